import type { Clock, Timer } from './clock.ts'

/** What comes of `work`, or the error of `late` where nothing has come of it after so long (machine ms): it may happen yet. */
export async function within<T>(
  ms: number,
  work: Promise<T>,
  { clock, late }: { clock: Pick<Clock, 'timer'>; late: () => Error },
): Promise<T> {
  let timer: Timer | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = clock.timer(ms, () => reject(late()))
  })
  return Promise.race([work, tooLate]).finally(() => timer?.cancel())
}
