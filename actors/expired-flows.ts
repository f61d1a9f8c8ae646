import { SECOND } from '../core/clock.ts'
import { type Poller, startPoller } from '../core/poller.ts'
import type { Runtime } from '../core/process.ts'
import { Commands } from '../schemas/command/command.ts'
import { expireCapture, expiredCaptures, idsOfCapture } from '../schemas/user/capture.ts'

const LOOK_MS = 5 * SECOND
const AT_ONCE = 100

/** Tells apps that asked for it of native attempts that nobody brought to an end (docs/behaviour.md, Events: `connect.ended`). */
export const startCaptureExpiry = ({ clock, log }: Pick<Runtime, 'clock' | 'log'>): Poller =>
  startPoller({ name: 'expired captures', everyMs: LOOK_MS, work: () => expireCaptures(clock.now()), clock, log })

async function expireCaptures(now: Date): Promise<number> {
  const due = await expiredCaptures({ now, limit: AT_ONCE })
  for (const capture of due) {
    // A command that was written tells of the end itself, now or later.
    const told = (await Commands.exists({ _id: idsOfCapture(capture._id).commandId })) !== null
    await expireCapture({ capture, told, now })
  }
  return due.length
}
