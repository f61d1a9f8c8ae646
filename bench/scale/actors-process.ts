import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const BUILD = fileURLToPath(new URL('../../start/build.ts', import.meta.url))
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

/** The service as `npm start` compiles it, until this process ends. */
async function build(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ccs-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true }))
  const target = join(folder, 'build')
  await promisify(execFile)(process.execPath, ['--import', 'tsx', BUILD, target])
  return target
}
let built: Promise<string> | undefined

/** A real actors process, as the service's parent starts it. */
export async function startActorsProcess(env: Record<string, string>): Promise<ActorsProcess> {
  built ??= build()
  const folder = await built
  const { ACTORS_ARGUMENTS } = (await import(
    join(folder, 'start/node-arguments.js')
  )) as typeof import('../../start/node-arguments.ts')
  const child: ChildProcess = fork(join(folder, 'actors/main.js'), [], {
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
