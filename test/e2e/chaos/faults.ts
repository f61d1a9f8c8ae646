import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault, ProcessName, Timed } from './schedule.ts'
import type { ChaosWorld } from './world.ts'

/** Carries out the schedule; resolves when all that went wrong is over. */
export async function letThemHappen({
  faults,
  world,
  note,
}: {
  faults: Timed[]
  world: ChaosWorld
  note(text: string): void
}): Promise<void> {
  const begun = performance.now()
  const lasting: Promise<void>[] = []
  for (const { at, fault } of faults) {
    await sleep(Math.max(0, begun + at - performance.now()))
    note(JSON.stringify(fault))
    lasting.push(happen(fault, world))
  }
  await Promise.all(lasting)
  world.proxy.restore()
}

async function happen(fault: Fault, { service, database, proxy }: ChaosWorld): Promise<void> {
  switch (fault.kind) {
    case 'kill':
      return signal(await victim(service.pid, fault), 'SIGKILL')
    case 'freeze': {
      const pid = await victim(service.pid, fault)
      signal(pid, 'SIGSTOP')
      await sleep(fault.forMs)
      return signal(pid, 'SIGCONT')
    }
    case 'kill-database':
      return signal(database.pids[fault.which % database.pids.length], 'SIGKILL')
    case 'slow-database':
      proxy.slow(fault.byMs)
      await sleep(fault.forMs)
      return proxy.slow(0)
    case 'lost-answers':
      proxy.loseAnswers(fault.every)
      await sleep(fault.forMs)
      return proxy.loseAnswers(0)
    case 'silent-database':
      proxy.freeze()
      await sleep(fault.forMs)
      return proxy.restore()
  }
}

async function victim(parent: number, { process: name, which }: { process: ProcessName; which: number }) {
  const pids = await childrenOf(parent, name)
  return pids[which % Math.max(1, pids.length)]
}

/** One that is being started again has no process to hurt. */
function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(pid, name)
  } catch {
    // It has ended meanwhile.
  }
}

/** As the operating system has them: also while the database, in which operators see them, is away. */
async function childrenOf(parent: number, name: ProcessName): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))
  const read = (pid: string, file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
  const children = await Promise.all(
    pids.map(async (pid) => {
      const [, ppid] = /^\d+ \(.*\) \S (\d+)/s.exec(await read(pid, 'stat')) ?? []
      return Number(ppid) === parent && (await read(pid, 'cmdline')).includes(`/${name}/main.`) ? [Number(pid)] : []
    }),
  )
  return children.flat().toSorted((a, b) => a - b)
}
