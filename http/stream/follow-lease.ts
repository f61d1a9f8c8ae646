import { WebSocket } from 'ws'
import { type Clock, SECOND } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { type Lease, Leases } from '../../schemas/lease/lease.ts'
import { expireLeases } from '../../schemas/lease/lease-ends.ts'
import { resumeLease } from '../../schemas/lease/parked-leases.ts'
import { noteViewer, noteViewerGone } from '../../schemas/lease/viewers.ts'
import { type Hearing, hear } from '../../schemas/wakeups.ts'
import { isFinalLeaseState } from '../../wire/flow-ends.ts'
import type { StateMessage } from '../../wire/stream.ts'
import { CLOSE_ENDED, CLOSE_PROTOCOL, CLOSE_REPLACED } from '../../wire/stream-constants.ts'
import { inTime } from '../kit/deadline.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { queueOf } from './queue.ts'
import { relayTo } from './upstream.ts'

/** How often the lease is looked at while no node holds it (machine time), and whenever something of a flow was written. */
const LOOK_MS = 150
/** A flow that no node has taken after this long waits for room: a node with room takes it within a look or two. */
const BUSY_MS = 1.5 * SECOND
/** How often its place in the queue is counted. */
const COUNT_MS = SECOND
/** After a node that should be there did not answer, or the database did not. */
const AGAIN_MS = SECOND

type Told = Omit<StateMessage, 'type'>

/**
 * Stays with one visitor's socket until the flow has ended or the visitor is gone: waits until a farm node holds the lease, joins the
 * two, and finds the next node when that one goes away. The document says how a flow ended, whoever is left to tell.
 */
export async function followLease(options: { leaseId: string; page: WebSocket; runtime: HttpRuntime }): Promise<void> {
  const { leaseId, page, runtime } = options
  const viewer = newId()
  const hearing = hear('flows')
  try {
    await follow({ ...options, viewer, hearing })
  } finally {
    hearing.stop()
    // Whoever comes back in the meantime is another viewer.
    const gone = noteViewerGone({ leaseId, viewer, now: runtime.clock.now() })
    await inTime(gone, runtime).catch(() => page.terminate())
  }
}

interface Following {
  leaseId: string
  page: WebSocket
  viewer: string
  hearing: Hearing
  runtime: HttpRuntime
}

async function follow({ leaseId, page, viewer, hearing, runtime }: Following): Promise<void> {
  const { clock, log } = runtime
  const tell = createTeller(page)
  const countPlace = createPlaceCounter(clock)
  const isOpen = (): boolean => page.readyState === WebSocket.OPEN
  let waitingSince = clock.elapsed()
  let lost = false
  let noted = false
  while (isOpen()) {
    const lease = await inTime(readLease(leaseId, clock), { clock }).catch((error: unknown) => {
      log.warn({ err: error }, 'a lease could not be read')
      return undefined
    })
    if (lease === undefined) {
      tell({ state: 'waiting', reason: 'silent' })
      await clock.sleep(AGAIN_MS)
      continue
    }
    const final = finalState(lease)
    if (final) {
      tell(final)
      return page.close(CLOSE_ENDED)
    }
    if (!noted) {
      noted = await inTime(noteViewer({ leaseId, viewer }), { clock }).then(
        () => true,
        () => false,
      )
    }
    if (isHeld(lease, clock.now())) {
      const end = await relayTo({ lease, page, runtime })
      if (end === 'replaced') return page.close(CLOSE_REPLACED)
      if (end === 'odd') return page.close(CLOSE_PROTOCOL)
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
    if (lease?.state === 'checking') tell({ state: 'checking' })
    else if (lease?.state === 'parked') {
      waitingSince = clock.elapsed()
      lost = false
      if (lease.parkedFor === 'away') await inTime(resumeLease({ id: leaseId, now: clock.now() }), { clock })
      else tell({ state: 'failed', reason: lease.parkedFor ?? 'provider_unreachable', mayRetry: true })
    } else if (lost) tell({ state: 'waiting', reason: 'lost' })
    else if (clock.elapsed() - waitingSince < BUSY_MS || !lease?.claimableAt) tell({ state: 'waiting' })
    else tell({ state: 'waiting', reason: 'queue', ...(await countPlace({ claimableAt: lease.claimableAt })) })
    await hearing.pause(LOOK_MS)
  }
}

/** Tells the page a state, once for each change. */
function createTeller(page: WebSocket) {
  let last = ''
  const tell = (told: Told): void => {
    const text = JSON.stringify({ type: 'state', ...told })
    if (text !== last && page.readyState === WebSocket.OPEN) page.send(text)
    last = text
  }
  /** Somebody else has told it something since. */
  tell.forget = (): void => {
    last = ''
  }
  return tell
}

/** Counts at most once in a while; what was counted last where the database does not say. */
function createPlaceCounter(clock: Clock) {
  let known: Pick<Told, 'queue'> = {}
  let countedAt = Number.NEGATIVE_INFINITY
  return async (waiting: { claimableAt: Date }): Promise<Pick<Told, 'queue'>> => {
    if (clock.elapsed() - countedAt < COUNT_MS) return known
    countedAt = clock.elapsed()
    known = await inTime(queueOf(waiting, clock.now()), { clock }).then(
      (queue) => ({ queue }),
      () => known,
    )
    return known
  }
}

/** The lease, ended first where its hour is over: what a visitor is told of an end stands in the document before, and binds whoever holds it. */
async function readLease(_id: string, clock: Clock): Promise<Lease | null> {
  const lease = await Leases.findById(_id).lean<Lease>()
  const now = clock.now()
  if (!lease || lease.expiresAt > now || (await expireLeases({ filter: { _id }, now })) === 0) return lease
  return Leases.findById(_id).lean<Lease>()
}

function finalState(lease: Lease | null): Told | null {
  if (!lease) return { state: 'failed', reason: 'not_completed' }
  const { state, failure } = lease
  if (state === 'connected') return { state }
  return isFinalLeaseState(state) ? { state: 'failed', ...(failure !== undefined && { reason: failure }) } : null
}

const isHeld = (lease: Lease | null, now: Date): lease is Lease & { nodeId: string; nodeUrl: string } =>
  lease?.nodeUrl !== undefined &&
  lease.nodeId !== undefined &&
  lease.claimedBy !== undefined &&
  lease.claimableAt !== undefined &&
  lease.claimableAt > now
