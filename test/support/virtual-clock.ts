import { type Clock, systemClock } from '../../core/clock.ts'

/** A clock that stands still but for what is slept on it; `jump` moves it. Timers, which time out requests, are real. */
export function virtualClock(start: Date): Clock & { jump(to: Date): void } {
  let at = start.getTime()
  const sleepers: { until: number; wake: () => void }[] = []
  const wakeNext = (): void => {
    sleepers.sort((a, b) => a.until - b.until)
    const next = sleepers.shift()
    at = Math.max(at, next?.until ?? 0)
    next?.wake()
  }
  return {
    ...systemClock(),
    now: () => new Date(at),
    elapsed: () => at,
    after: (serviceMs) => new Date(at + serviceMs),
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.push({ until: at + ms, wake })
        setImmediate(wakeNext)
      }),
    jump: (to) => {
      at = to.getTime()
    },
  }
}
