import { SECOND } from '../core/clock.ts'
import { type Poller, startPoller } from '../core/poller.ts'
import type { Runtime } from '../core/process.ts'
import { Commands } from '../schemas/command/command.ts'
import { endUnwrittenLease } from '../schemas/lease/lease-ends.ts'
import { endCapture, endUnwrittenCapture, expiredCaptures, idsOfCapture } from '../schemas/user/capture.ts'
import { noteFlowWritten, overdueLinks } from '../schemas/user/consumed-link.ts'
import { presentGeneration } from '../schemas/user/user.ts'

const LOOK_MS = 5 * SECOND
const AT_ONCE = 100

/**
 * Tells apps that asked for it of flows that nobody else tells of (docs/behaviour.md, Events: `connect.ended`): native attempts that were not
 * brought to an end, and flows whose process died between the spent link and the flow's own document.
 */
export const startFlowExpiry = ({ clock, log }: Pick<Runtime, 'clock' | 'log'>): Poller =>
  startPoller({
    name: 'expired flows',
    everyMs: LOOK_MS,
    work: async () => (await expireCaptures(clock.now())) + (await endUnwrittenFlows(clock.now())),
    clock,
    log,
  })

async function expireCaptures(now: Date): Promise<number> {
  const due = await expiredCaptures({ now, limit: AT_ONCE })
  for (const capture of due) {
    // A command that was written tells of the end itself, now or later.
    const told = (await Commands.exists({ _id: idsOfCapture(capture._id).commandId })) !== null
    await endCapture({ capture, reason: 'time_over', told, now })
  }
  return due.length
}

const END_UNWRITTEN = { lease: endUnwrittenLease, capture: endUnwrittenCapture }

/** Their own documents tell of them, as of all flows: whoever writes a flow down, as begun or as ended, is the only one who does. */
async function endUnwrittenFlows(now: Date): Promise<number> {
  const overdue = await overdueLinks({ now, limit: AT_ONCE })
  for (const { _id: linkId, flowId: _id, generation = 0, unwritten } of overdue) {
    if (unwritten) {
      const { kind, ...known } = unwritten
      const reason = (await presentGeneration(known)) === generation ? 'time_over' : 'deleted'
      await END_UNWRITTEN[kind]({ flow: { _id, generation, ...known }, reason, now })
    }
    await noteFlowWritten({ linkId, now })
  }
  return overdue.length
}
