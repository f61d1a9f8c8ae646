import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ACTORS_ARGUMENTS } from '../../start/node-arguments.ts'

const MAIN = fileURLToPath(new URL('../../actors/main.ts', import.meta.url))
/** Of Linux: what `/proc` counts processor time in. */
const TICKS_A_SECOND = 100
const MIB = 1024 * 1024

export interface ActorsProcess {
  /** The part of a core that it takes for so long (ms). */
  load(forMs: number): Promise<number>
  memoryMib(): Promise<number>
  /** SIGKILL. */
  kill(): void
  stop(): Promise<void>
}

/** A real actors process, as the service's parent starts it. */
export async function startActorsProcess(env: Record<string, string>): Promise<ActorsProcess> {
  const child: ChildProcess = fork(MAIN, [], {
    env: { ...process.env, ...env },
    execArgv: ACTORS_ARGUMENTS,
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  const died = once(child, 'exit').then(([status]) => {
    throw new Error(`the actors process ended with status ${status}`)
  })
  await Promise.race([once(child, 'message'), died])
  // From here on its end is what is asked for.
  died.catch(() => undefined)
  const file = (name: string): Promise<string> => readFile(`/proc/${child.pid}/${name}`, 'utf8')
  const processorSeconds = async (): Promise<number> => {
    const fields = (await file('stat')).split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
  }
  return {
    load: async (forMs) => {
      const [before, begin] = [await processorSeconds(), performance.now()]
      await wait(forMs)
      return ((await processorSeconds()) - before) / ((performance.now() - begin) / 1_000)
    },
    memoryMib: async () => (Number(/VmRSS:\s+(\d+)/.exec(await file('status'))?.[1]) * 1024) / MIB,
    kill: () => void child.kill('SIGKILL'),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
