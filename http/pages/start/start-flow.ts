import { z } from 'zod'
import { HOUR } from '../../../core/clock.ts'
import { carriedTrace } from '../../../core/tracing.ts'
import { unlessDuplicate } from '../../../schemas/database.ts'
import { type Lease, Leases } from '../../../schemas/lease/lease.ts'
import { noteFlowWritten } from '../../../schemas/user/consumed-link.ts'
import { generationOf } from '../../../schemas/user/user.ts'
import { viewportShape } from '../../../wire/viewport.ts'
import type { LinkVisit } from '../../access/link-visits.ts'
import { checkLink } from '../../access/links.ts'
import { beginFlow } from '../../actions/begin-flow.ts'
import type { HttpRuntime } from '../../kit/runtime.ts'

/** docs/behaviour.md, Limits: the whole connect flow. */
const FLOW_MS = HOUR

/** What the page asks for: the size of the screen that it can show. */
export const startRequest = z.strictObject({
  /** The flow that the page was rendered for. */
  flow: z.string(),
  viewport: viewportShape,
})

type StartRequest = z.infer<typeof startRequest>

/**
 * Begins the flow of a link in the browser that opened it, or goes on with it: the link is consumed by the first call, and every
 * further one of the same browser returns the same lease. Throws `ServiceError`.
 */
export async function startFlow({
  visit: { app, claims, flowId: _id },
  viewport,
  runtime,
}: {
  visit: LinkVisit
  viewport: StartRequest['viewport']
  runtime: HttpRuntime
}): Promise<Lease> {
  const { clock } = runtime
  const present = await Leases.findById(_id).lean<Lease>()
  if (present) return present
  // The link may have been consumed by a call that was cut short, long ago.
  checkLink(claims, { purpose: 'connect', now: clock.now() })
  const { user, profile, linkId, tellsEnd } = await beginFlow({ app, claims, flowId: _id, kind: 'lease', runtime })
  const now = clock.now()
  const lease: Lease = {
    _id,
    appId: app._id,
    userId: user._id,
    userRef: user.userRef,
    generation: generationOf(user),
    provider: profile.id,
    viewport,
    state: 'starting',
    ...(tellsEnd && { tellsEnd }),
    outbox: [],
    createdAt: now,
    expiresAt: clock.after(FLOW_MS),
    claimableAt: now,
    fence: 0,
    ...carriedTrace(),
  }
  await Leases.create(lease).catch(unlessDuplicate)
  if (tellsEnd) await noteFlowWritten({ linkId, now: clock.now() })
  return lease
}
