import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Set in the environment of every suite, so that what it leaves behind can be told to be its. */
export const SUITE_VARIABLE = 'TEST_SUITE'

const GRACE_MS = 3_000
const LOOK_AGAIN_MS = 100

interface Leak {
  pid: number
  command: string
  /** The suite that started it, where it can be told. */
  suite: string | undefined
}

/**
 * Processes that belong to this run and are still there: `folder`, the run's temporary one, stands in their environment,
 * arguments or mounts. A process that is just ending gets a moment. Only where /proc exists.
 */
export async function findLeaks({ folder }: { folder: string }): Promise<Leak[]> {
  const deadline = Date.now() + GRACE_MS
  for (;;) {
    const leaks = await look(folder)
    if (leaks.length === 0 || Date.now() > deadline) return leaks
    await sleep(LOOK_AGAIN_MS)
  }
}

async function look(folder: string): Promise<Leak[]> {
  const names = await readdir('/proc').catch(() => [])
  const found = await Promise.all(
    names.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid).map((name) => inspect(name, folder)),
  )
  return found.filter((leak) => leak !== undefined)
}

async function inspect(pid: string, folder: string): Promise<Leak | undefined> {
  const read = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
  const [environment, command, mounts] = await Promise.all([read('environ'), read('cmdline'), read('mountinfo')])
  // No arguments: a process of the kernel, or one that has ended and is not yet collected.
  if (command === '') return undefined
  if (!environment.includes(folder) && !command.includes(folder) && !mounts.includes(folder)) return undefined
  const suite = environment.split('\0').find((line) => line.startsWith(`${SUITE_VARIABLE}=`))
  return {
    pid: Number(pid),
    command: command.replaceAll('\0', ' ').trim(),
    suite: suite?.slice(SUITE_VARIABLE.length + 1),
  }
}
