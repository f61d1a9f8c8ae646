/** One line of the benches: what the service does against what the machine can do at all, measured in the same run. */
export interface Row {
  what: string
  /** With their units, for people. */
  ours: string
  floor: string
  /** Ours over the floor. */
  ratio: number
  /** What the ratio should be, and whether it may be more or has to be less. */
  goal: { atLeast: number } | { atMost: number }
}

/** How a bench tells `npm run bench` its rows: a line of JSON each on stdout; everything else it says goes to stderr. */
export function printRow(row: Row): void {
  process.stdout.write(`${JSON.stringify(row)}\n`)
}

export const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** A row whose floor is what it may be at most, not another program. */
export function printLimit({
  what,
  value,
  most,
  unit,
}: {
  what: string
  value: number
  most: number
  unit: string
}): void {
  const row = { what, ours: `${rounded(value)} ${unit}`, floor: `${rounded(most)} ${unit}`, ratio: value / most }
  printRow({ ...row, goal: { atMost: 1 } })
}

/** How long (ms) a piece of work took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Three digits say all that these machines can tell. */
export const rounded = (value: number): string => String(Number(value.toPrecision(3)))
