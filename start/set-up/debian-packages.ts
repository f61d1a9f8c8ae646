import { type Clock, MINUTE, SECOND } from '../../core/clock.ts'
import { runCommand } from './run-command.ts'

/** What commands of a package manager need, wherever this process was started from. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const LOCKED = /Could not get lock|Unable to (?:lock|acquire)/
/** Another installation on the machine may take a while. */
const LOCK_LIMIT_MS = 5 * MINUTE
const LOOK_AGAIN_MS = 2 * SECOND

type Env = Record<string, string | undefined>

export const systemEnv = (env: Env): Env => ({
  ...env,
  PATH: SYSTEM_PATH,
  DEBIAN_FRONTEND: 'noninteractive',
  LC_ALL: 'C.UTF-8',
})

/**
 * Installs Debian packages on this machine, with fresh package lists where the present ones do not do; waits while another
 * process holds apt's locks. Needs root and apt; rejects with what apt says.
 */
export async function installDebianPackages({
  packages,
  env,
  clock,
  signal,
}: {
  packages: string[]
  env: Env
  clock: Clock
  signal?: AbortSignal | undefined
}): Promise<void> {
  const deadline = clock.elapsed() + LOCK_LIMIT_MS
  const apt = async (args: string[]): Promise<void> => {
    for (;;) {
      try {
        await runCommand('apt-get', args, { env: systemEnv(env), signal })
        return
      } catch (error) {
        if (signal?.aborted || !LOCKED.test(String(error)) || clock.elapsed() > deadline) throw error
        await clock.sleep(LOOK_AGAIN_MS, signal)
      }
    }
  }
  const install = ['install', '-y', '--no-install-recommends', ...packages]
  try {
    await apt(install)
  } catch (error) {
    if (signal?.aborted) throw error
    // A fresh machine has no package lists yet.
    await apt(['update'])
    await apt(install)
  }
}
