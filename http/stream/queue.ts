import { MINUTE } from '../../core/clock.ts'
import { placeInQueue } from '../../schemas/lease/parked-leases.ts'
import { liveProcesses } from '../../schemas/operations/process-record.ts'
import type { StateMessage } from '../../wire/stream.ts'

/** How long a sign-in holds its browser, roughly: password, code and consent, or ten minutes where nobody is there any more. */
const TYPICAL_SIGN_IN_MS = 3 * MINUTE

/** The place of a flow that waits since `claimableAt`, and about how many minutes that is with the browsers that there are. */
export async function queueOf(
  { claimableAt }: { claimableAt: Date },
  now: Date,
): Promise<NonNullable<StateMessage['queue']>> {
  const [place, processes] = await Promise.all([placeInQueue({ claimableAt }), liveProcesses(now)])
  const capacity = processes.reduce((sum, { gauges }) => sum + (gauges['capacity'] ?? 0), 0)
  if (capacity === 0) return { place }
  return { place, minutes: Math.ceil((place * TYPICAL_SIGN_IN_MS) / capacity / MINUTE) }
}
