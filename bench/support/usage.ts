import { readFile } from 'node:fs/promises'
import { below } from '../../test/support/process-tree.ts'

/** What a process and all that it started take of the machine. */
interface Usage {
  /** Proportional set size: memory that several share counts once in all. */
  mib: number
  processorSeconds: number
  processes: number
}

const KIB_PER_MIB = 1_024
/** Of Linux: what `/proc` counts processor time in. */
const TICKS_A_SECOND = 100

/** What the processes below `root` take, with `itself` or without it, and without `except` and those below that. */
export async function usageBelow(root: number, options: Parameters<typeof below>[1] = {}): Promise<Usage> {
  const found = await below(root, options)
  const usage = { mib: 0, processorSeconds: 0, processes: found.size }
  for (const [pid, ticks] of found) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    usage.mib += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / KIB_PER_MIB
    usage.processorSeconds += ticks / TICKS_A_SECOND
  }
  return usage
}
