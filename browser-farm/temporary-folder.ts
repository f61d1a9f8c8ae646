import { mkdirSync, rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAME = /^ccs-farm-(\d+)-\w+$/

/** A browser keeps a socket below this folder, and the path of one has at most so many bytes (`sun_path` of unix(7), one for its end). */
const LONGEST_SOCKET_PATH = process.platform === 'linux' ? 107 : 103
const SOCKET_BELOW = '/ccs-farm-4194304-mwr2oxyq/b-XXXXXX/org.chromium.Chromium.XXXXXX/SingletonSocket'
const LONGEST_BASE = LONGEST_SOCKET_PATH - SOCKET_BELOW.length
/** Where the system's own temporary folder lies too deep for that, as on macOS. */
const SHORT_BASE = '/tmp'

let own: string | undefined

/**
 * A temporary folder of this process's own, which everything in it that wants one uses from now on (a browser's profile among others). It goes
 * when the process ends; what a killed one has left goes here, at the next start. Returns its path.
 */
export async function ownTemporaryFolder(): Promise<string> {
  if (own !== undefined) return own
  const base = Buffer.byteLength(tmpdir()) <= LONGEST_BASE ? tmpdir() : SHORT_BASE
  own = join(base, `ccs-farm-${process.pid}-${Math.round(performance.timeOrigin).toString(36)}`)
  await removeLeftovers(base, own)
  mkdirSync(own, { mode: 0o700 })
  process.env['TMPDIR'] = own
  process.once('exit', () => own !== undefined && rmSync(own, { recursive: true, force: true }))
  return own
}

async function removeLeftovers(base: string, besides: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = Number(NAME.exec(name)?.[1])
    const path = join(base, name)
    if (!pid || path === besides || (pid !== process.pid && lives(pid))) continue
    // Another node may be at it too, and a browser that is just ending.
    await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
