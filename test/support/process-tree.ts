import { readdir, readFile } from 'node:fs/promises'

/** What Linux says of a process: /proc, `stat`. */
interface Stat {
  parent: number
  /** Of the processor, in /proc's own unit. */
  ticks: number
}

async function allProcesses(): Promise<Map<number, Stat>> {
  const found = new Map<number, Stat>()
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) && (await readFile(`/proc/${name}/stat`, 'latin1').catch(() => ''))
    if (!stat) continue
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    found.set(Number(name), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) })
  }
  return found
}

/** What a process has started, and what that has: ticks of the processor by process id. Without `except` and what is below that. */
export async function below(
  root: number,
  { except, itself = false }: { except?: number /** And the process too. */; itself?: boolean } = {},
): Promise<Map<number, number>> {
  const all = await allProcesses()
  const isBelow = (pid: number): boolean => {
    const parent = all.get(pid)?.parent
    return parent !== undefined && pid !== except && (parent === root || isBelow(parent))
  }
  const found = [...all].filter(([pid]) => isBelow(pid) || (itself && pid === root))
  return new Map(found.map(([pid, { ticks }]) => [pid, ticks]))
}

export const commandOf = (pid: number) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
