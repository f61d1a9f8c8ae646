import { type Clock, SECOND } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { startPoller } from '../core/poller.ts'
import { liveProcesses } from '../schemas/operations/process-record.ts'
import { type IdRange, rangeOf } from './id-range.ts'

/** How often a process looks who else there is (machine ms): one that is gone is missed within this and the time after which it is taken for dead. */
const LOOK_EVERY_MS = 2 * SECOND

/** Which of all documents are this process's to begin with; undefined where it is alone. A hint: two that disagree for a while lose nothing. */
export type Share = () => IdRange | undefined

/** Documents go to the actors processes that run, each the same part of their ids. */
export function startShare({ processId, clock, log }: { processId: string; clock: Clock; log: Logger }): {
  of: Share
  stop(): Promise<void>
} {
  let range: IdRange | undefined
  const look = async (): Promise<number> => {
    const running = (await liveProcesses(clock.now())).filter(
      ({ kind, state }) => kind === 'actors' && state === 'running',
    )
    const ids = running.map(({ _id }) => _id).sort()
    range = rangeOf({ index: ids.indexOf(processId), count: ids.length })
    return 0
  }
  const poller = startPoller({ name: 'share', everyMs: LOOK_EVERY_MS, work: look, clock, log })
  return { of: () => range, stop: poller.stop }
}
