import express, { type RequestHandler } from 'express'
import { SECOND } from '../../../core/clock.ts'
import { type Lease, Leases } from '../../../schemas/lease/lease.ts'
import { ConsumedLinks, linkId } from '../../../schemas/user/consumed-link.ts'
import { FLOW_ENDS, type FlowOutcome, isFinalLeaseState } from '../../../wire/flow-ends.ts'
import type { LinkClaims } from '../../access/link-claims.ts'
import { verifyLink } from '../../access/links.ts'
import type { HttpRuntime } from '../../kit/runtime.ts'
import { type PageContext, pageHandler } from '../kit/exchange.ts'

/** Far more than any link's token. */
const TOKEN_LIMIT = '10kb'
/** A page that is loaded again is back sooner. */
const LEFT_MS = 4 * SECOND

/** `left`: the flow is open, and no page shows it any more. */
type FlowState = 'open' | 'left' | FlowOutcome

/**
 * How the flow of a link goes, for the page of the app that sent its user there: whoever has the link's token may ask, from any origin. The
 * hosted page has no other tie to that page.
 */
export function flowStateHandlers(context: PageContext): RequestHandler[] {
  return [
    (_request, response, next) => {
      response.set('Access-Control-Allow-Origin', '*')
      next()
    },
    express.text({ type: '*/*', limit: TOKEN_LIMIT }),
    pageHandler(context, async ({ request, response, runtime }) => {
      const { claims } = await verifyLink({ token: request.body, runtime })
      response.set('Cache-Control', 'no-store').json({ state: await stateOf(claims, runtime) })
    }),
  ]
}

async function stateOf(claims: LinkClaims, { clock }: Pick<HttpRuntime, 'clock'>): Promise<FlowState> {
  const consumed = await ConsumedLinks.findById(linkId(claims)).select({ flowId: 1 }).lean()
  // Nobody has opened it, and nobody can any more.
  if (!consumed && claims.exp * SECOND <= clock.now().getTime()) return 'expired'
  const lease = consumed && (await Leases.findById(consumed.flowId).lean<Lease>())
  if (!lease) return 'open'
  const { state, failure = 'not_completed', leftAt } = lease
  if (state === 'connected') return 'connected'
  if (isFinalLeaseState(state)) return FLOW_ENDS[failure] ?? 'failed'
  const isLeft = leftAt !== undefined && clock.now().getTime() - leftAt.getTime() > LEFT_MS
  return isLeft && state !== 'checking' ? 'left' : 'open'
}
