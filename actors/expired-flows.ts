import { SECOND } from '../core/clock.ts'
import { type Poller, startPoller } from '../core/poller.ts'
import type { Runtime } from '../core/process.ts'
import { Commands } from '../schemas/command/command.ts'
import { flowEnded } from '../schemas/flow-ended.ts'
import { Leases } from '../schemas/lease/lease.ts'
import { Captures, expireCapture, expiredCaptures, idsOfCapture } from '../schemas/user/capture.ts'
import { type ConsumedLink, overdueLinks, settleLink } from '../schemas/user/consumed-link.ts'
import { generationOf, type User, Users } from '../schemas/user/user.ts'

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
    await expireCapture({ capture, told, now })
  }
  return due.length
}

async function endUnwrittenFlows(now: Date): Promise<number> {
  const overdue = await overdueLinks({ now, limit: AT_ONCE })
  for (const link of overdue) {
    const user = await userOf(link)
    const events = user && !(await isWritten(link.flowId)) ? [endOf({ link, user, now })] : []
    await settleLink({ _id: link._id, events, now })
  }
  return overdue.length
}

/** Null where everything of the user has been deleted since: the app heard of that. */
async function userOf({ userId, generation = 0 }: ConsumedLink): Promise<User | null> {
  const user = await Users.findById(userId).lean<User>()
  return user && generationOf(user) === generation ? user : null
}

const endOf = ({ link: { flowId }, user: { appId, userRef }, now }: { link: ConsumedLink; user: User; now: Date }) =>
  flowEnded({ flowId, appId, userRef, reason: 'time_over', at: now })

const isWritten = async (_id: string): Promise<boolean> =>
  (await Leases.exists({ _id })) !== null || (await Captures.exists({ _id })) !== null
