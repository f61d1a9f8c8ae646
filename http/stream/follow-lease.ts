import { WebSocket } from 'ws'
import { type Clock, SECOND } from '../../core/clock.ts'
import { FINAL_LEASE_STATES, type Lease, Leases } from '../../schemas/lease/lease.ts'
import { expireLeases } from '../../schemas/lease/lease-ends.ts'
import type { PageState } from '../../wire/stream.ts'
import { CLOSE_ENDED, CLOSE_REPLACED } from '../../wire/stream-constants.ts'
import { inTime } from '../kit/deadline.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { relayTo } from './upstream.ts'

/** How often the lease is looked at while no node holds it (machine time). */
const LOOK_MS = 150
/** A flow that no node has taken after this long waits for room. */
const BUSY_MS = 4 * SECOND
/** After a node that should be there did not answer, or the database did not. */
const AGAIN_MS = SECOND

/** What the page says instead of its own words. */
interface Words {
  title?: string
  message?: string
}

const BUSY: Words = {
  title: 'All browsers are busy',
  message: 'Please keep this page open: yours opens as soon as one is free.',
}
const LOST: Words = {
  title: 'The browser was lost',
  message: 'Another one is being opened, and you will have to sign in once more.',
}
const AWAY: Words = { title: 'The service does not answer right now', message: 'Trying again…' }
const UNKNOWN = 'This sign-in is not known any more. Return to the app and start again.'

/**
 * Stays with one visitor's socket until the flow has ended or the visitor is gone: waits until a farm node holds the lease, joins the
 * two, and finds the next node when that one goes away. The document says how a flow ended, whoever is left to tell.
 */
export async function followLease({
  leaseId,
  page,
  runtime,
}: {
  leaseId: string
  page: WebSocket
  runtime: HttpRuntime
}): Promise<void> {
  const { clock, log } = runtime
  const tell = createTeller(page)
  const isOpen = (): boolean => page.readyState === WebSocket.OPEN
  let waitingSince = clock.elapsed()
  let lost = false
  while (isOpen()) {
    const lease = await inTime(readLease(leaseId, clock), { clock }).catch((error: unknown) => {
      log.warn({ err: error }, 'a lease could not be read')
      return undefined
    })
    if (lease === undefined) {
      tell('waiting', AWAY)
      await clock.sleep(AGAIN_MS)
      continue
    }
    const final = finalState(lease)
    if (final) {
      tell(final.state, final)
      return page.close(CLOSE_ENDED)
    }
    if (isHeld(lease, clock.now())) {
      const end = await relayTo({ lease, page, runtime })
      if (end === 'replaced') return page.close(CLOSE_REPLACED)
      // What ended is in the document by then.
      if (end === 'ended') continue
      if (end === 'moved') {
        lost = true
        waitingSince = clock.elapsed()
        tell.forget()
        continue
      }
      if (end === 'unreachable') await clock.sleep(LOOK_MS)
    }
    if (lease?.state === 'checking') tell('checking')
    else if (lost) tell('waiting', LOST)
    else tell('waiting', clock.elapsed() - waitingSince > BUSY_MS ? BUSY : undefined)
    await clock.sleep(LOOK_MS)
  }
}

/** Tells the page a state, once for each change. */
function createTeller(page: WebSocket) {
  let last = ''
  const tell = (state: PageState, { title, message }: Words = {}): void => {
    const text = JSON.stringify({ type: 'state', state, title, message })
    if (text !== last && page.readyState === WebSocket.OPEN) page.send(text)
    last = text
  }
  /** Somebody else has told it something since. */
  tell.forget = (): void => {
    last = ''
  }
  return tell
}

/** The lease, ended first where its hour is over: what a visitor is told of an end stands in the document before, and binds whoever holds it. */
async function readLease(_id: string, clock: Clock): Promise<Lease | null> {
  const lease = await Leases.findById(_id).lean<Lease>()
  const now = clock.now()
  if (!lease || lease.expiresAt > now || (await expireLeases({ filter: { _id }, now })) === 0) return lease
  return Leases.findById(_id).lean<Lease>()
}

function finalState(lease: Lease | null): ({ state: PageState } & Words) | null {
  if (!lease) return { state: 'failed', message: UNKNOWN }
  const { state, failure } = lease
  if (state === 'connected') return { state }
  return FINAL_LEASE_STATES.includes(state)
    ? { state: 'failed', ...(failure !== undefined && { message: failure }) }
    : null
}

const isHeld = (lease: Lease | null, now: Date): lease is Lease & { nodeId: string; nodeUrl: string } =>
  lease?.nodeUrl !== undefined &&
  lease.nodeId !== undefined &&
  lease.claimedBy !== undefined &&
  lease.claimableAt !== undefined &&
  lease.claimableAt > now
