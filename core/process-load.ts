import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How often the event loop is looked at (ms): its delay is what comes on top. More often, and an idle process wakes up for little else. */
export const LOOP_LOOK_MS = 50
const NANOSECONDS_PER_MS = 1e6

/** How busy this process is. */
export interface ProcessLoad {
  /** The longest that the event loop was held up since the last reading. */
  eventLoopLagMs: number
  /** Resident memory. */
  memoryBytes: number
}

/** Returns what reads the load of this process, each time since the time before. */
export function measureLoad(): () => ProcessLoad {
  const delay = monitorEventLoopDelay({ resolution: LOOP_LOOK_MS })
  delay.enable()
  return () => {
    const lag = Math.max(0, Math.round(delay.max / NANOSECONDS_PER_MS) - LOOP_LOOK_MS)
    delay.reset()
    return { eventLoopLagMs: lag, memoryBytes: process.memoryUsage.rss() }
  }
}
