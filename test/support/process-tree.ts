import { readdir, readFile } from 'node:fs/promises'

/** Parents by process id, as /proc has them. */
const parents = async (): Promise<Map<number, number>> => {
  const found = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) && (await readFile(`/proc/${name}/stat`, 'latin1').catch(() => ''))
    if (stat) found.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
  }
  return found
}
/** Process ids below a process. */
export const below = async (root: number): Promise<number[]> => {
  const all = await parents()
  const isBelow = (pid: number | undefined): boolean => pid !== undefined && (pid === root || isBelow(all.get(pid)))
  return [...all.keys()].filter((pid) => pid !== root && isBelow(pid))
}

export const commandOf = (pid: number) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
