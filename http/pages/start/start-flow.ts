import { z } from 'zod'
import { HOUR } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import { Apps } from '../../../schemas/app/app.ts'
import { isDuplicate } from '../../../schemas/database.ts'
import { type Lease, Leases } from '../../../schemas/lease/lease.ts'
import { flowIdOf, type StartCookie } from '../../access/start-cookie.ts'
import { beginFlow } from '../../actions/begin-flow.ts'
import type { HttpRuntime } from '../../kit/runtime.ts'

/** docs/behaviour.md, Limits: the whole connect flow. */
const FLOW_MS = HOUR

const side = z.int().min(240).max(2_560)

/** What the page asks for: the size of the screen that it can show. */
export const startRequest = z.strictObject({
  /** The flow that the page was rendered for. */
  flow: z.string(),
  viewport: z.strictObject({
    width: side,
    height: side,
    deviceScaleFactor: z.number().min(1).max(4),
    mobile: z.boolean(),
  }),
})

export type StartRequest = z.infer<typeof startRequest>

/**
 * Begins the flow of a link in the browser that opened it, or goes on with it: the link is consumed by the first call, and every
 * further one of the same browser answers the same lease. Throws `ServiceError`.
 */
export async function startFlow({
  cookie,
  viewport,
  runtime,
}: {
  cookie: StartCookie
  viewport: StartRequest['viewport']
  runtime: HttpRuntime
}): Promise<Lease> {
  const { clock } = runtime
  const { claims } = cookie
  const _id = flowIdOf(cookie)
  const present = await Leases.findById(_id).lean<Lease>()
  if (present) return present
  const app = await Apps.findById(claims.appId).select({ _id: 1 }).lean()
  if (!app) throw new ServiceError('invalid_token', { reason: 'unknown app' })
  if (claims.exp * 1_000 <= clock.now().getTime()) throw new ServiceError('invalid_token', { reason: 'expired' })
  const { user, profile } = await beginFlow({ app, claims, flowId: _id, runtime })
  const now = clock.now()
  const lease: Lease = {
    _id,
    appId: app._id,
    userId: user._id,
    userRef: user.userRef,
    provider: profile.id,
    viewport,
    state: 'starting',
    createdAt: now,
    expiresAt: clock.after(FLOW_MS),
    claimableAt: now,
    fence: 0,
  }
  try {
    await Leases.create(lease)
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
  return lease
}
