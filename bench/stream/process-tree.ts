import { readdir, readFile } from 'node:fs/promises'

/** What Linux says of a process and all that it started. */
interface Usage {
  /** Proportional set size: memory that several share counts once in all. */
  mib: number
  processorSeconds: number
}

const KIB_PER_MIB = 1_024
/** Of Linux: what `/proc` counts processor time in. */
const TICKS_A_SECOND = 100

/** What the processes below `root` take, without those below `except` and without both themselves. */
export async function usageBelow(root: number, { except }: { except?: number } = {}): Promise<Usage> {
  const parents = new Map<number, { parent: number; ticks: number }>()
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : ''
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (stat !== '')
      parents.set(Number(name), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) })
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid)?.parent
    return parent !== undefined && parent !== except && pid !== except && (parent === root || isBelow(parent))
  }
  const usage = { mib: 0, processorSeconds: 0 }
  for (const [pid, { ticks }] of parents) {
    if (!isBelow(pid)) continue
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    usage.mib += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / KIB_PER_MIB
    usage.processorSeconds += ticks / TICKS_A_SECOND
  }
  return usage
}
