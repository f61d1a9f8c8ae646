import type { Browser } from 'playwright'
import type { WebSocket } from 'ws'
import { SECOND } from '../core/clock.ts'
import { numbersOf } from '../core/numbers.ts'
import { inSpan, traceOutcome } from '../core/tracing.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import { within } from '../core/within.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import type { Lease, ParkedFor } from '../schemas/lease/lease.ts'
import { parkLease } from '../schemas/lease/parked-leases.ts'
import { CLOSE_ENDED, CLOSE_MOVED } from '../wire/stream-constants.ts'
import { type Audience, createAudience } from './audience.ts'
import { watchBrowser } from './browser-pulse.ts'
import { earlierState } from './earlier-state.ts'
import { awaitConnection, handOver, sealSession } from './hand-over.ts'
import { BrowserLost, LeaseEnd } from './lease-end.ts'
import { endLease, handBack, type LeaseOutcome, noteLive, writeAsHolder } from './lease-writes.ts'
import { BEST_QUALITY } from './link-quality.ts'
import { type Login, openLogin } from './log-in.ts'
import { openPlace, type Place, sealPlace } from './place.ts'
import type { FarmRuntime } from './runtime.ts'

/** A browser that dies this often under one lease is not worth another attempt. */
const MOST_BROWSERS = 5

/** A launch takes a second; a node that has no browser after this long (machine time) gives the lease back. */
const TAKE_MS = 20 * SECOND
/** A browser is gone in no time; one that hangs is killed by Playwright, while its visitor goes on. */
const CLOSE_MS = 3 * SECOND

/** One lease while this node holds it. */
export interface LeaseRun {
  lease: Lease
  join(socket: WebSocket): void
  end(reason: LeaseEnd): void
  /** Resolves when nothing of it is left here; never rejects. */
  done: Promise<void>
}

export function startLease({
  lease,
  nodeId,
  nodeUrl,
  runtime,
}: {
  lease: Lease
  nodeId: string
  nodeUrl: string
  runtime: FarmRuntime
}): LeaseRun {
  const { clock, log } = runtime
  const ended = new AbortController()
  const lost = new AbortController()
  const end = (reason: LeaseEnd): void => {
    ended.abort(reason)
    if (reason.kind === 'lost' || reason.kind === 'stopping') lost.abort(reason)
  }
  let login: Login | undefined
  let watching = false
  let quality = BEST_QUALITY
  /** For operators: one write after the other, so that the last one holds; the visitor waits for none. */
  let noted: Promise<unknown> = Promise.resolve()
  const note = (write: () => Promise<unknown>): void => {
    noted = noted.then(write).catch((error: unknown) => {
      log.warn({ err: error, lease: lease._id }, 'how a lease goes was not recorded')
    })
  }
  const audience = createAudience({
    clock,
    onInput: (message) => login?.screen.input(message),
    onWatching: (wanted) => {
      watching = wanted
      login?.screen.setWatched(wanted)
    },
    onPresence: (viewerPresent) => note(() => writeAsHolder(lease, { viewerPresent })),
    onQuality: (wanted) => {
      quality = wanted
      login?.screen.setQuality(wanted)
    },
    onUnwatched: () => end(new LeaseEnd('away')),
  })
  const expiry = clock.timer(lease.expiresAt.getTime() - clock.now().getTime(), () => end(new LeaseEnd('time_over')))
  const setLogin = (next: Login | undefined): void => {
    login = next
    login?.screen.setQuality(quality)
    if (watching) login?.screen.setWatched(true)
  }
  const setLive = (): void => {
    note(() => noteLive(lease))
    audience.setState('live')
    // What is shown from now on is the login page, not what was there before it.
    if (watching) login?.screen.setWatched(true)
  }

  const run = async (): Promise<void> => {
    try {
      const state = lease.handOver ? 'checking' : 'starting'
      const held = await writeAsHolder(lease, { nodeId, nodeUrl, state, resumed: false })
      if (!held) throw new LeaseEnd('lost')
      const outcome = await flow({
        lease,
        audience,
        runtime,
        signal: ended.signal,
        lost: lost.signal,
        setLogin,
        setLive,
      })
      await finish(outcome)
    } catch (error) {
      await giveUp(error)
    } finally {
      expiry.cancel()
    }
  }
  const finish = async (outcome: LeaseOutcome): Promise<void> => {
    const now = clock.now()
    if (!(await endLease(lease, outcome, now))) return audience.close(CLOSE_MOVED)
    const seconds = (now.getTime() - lease.createdAt.getTime()) / SECOND
    traceOutcome(outcome.state)
    numbersOf(runtime.metrics).leases.observe({ outcome: outcome.state }, seconds)
    if (outcome.state === 'connected') audience.setState('connected')
    else audience.setState('failed', { reason: outcome.failure })
    audience.close(CLOSE_ENDED)
  }
  /** The document is where the page is told from then on. */
  const park = async (parkedFor: ParkedFor): Promise<void> => {
    await parkLease(lease, { parkedFor, place: lease.place })
    audience.close(CLOSE_MOVED)
  }
  const giveUp = async (error: unknown): Promise<void> => {
    const kind = error instanceof LeaseEnd ? error.kind : 'stopping'
    if (!(error instanceof LeaseEnd)) log.error({ err: error, lease: lease._id }, 'a lease failed; it is handed back')
    if (kind === 'time_over' || kind === 'no_browser') return finish({ state: 'failed', failure: kind })
    if (kind !== 'lost' && kind !== 'stopping') return park(kind)
    audience.close(CLOSE_MOVED)
    if (kind === 'stopping') await handBack(lease, clock.now())
  }

  const attributes = { 'ccs.lease_id': lease._id, 'ccs.app_id': lease.appId, 'ccs.provider': lease.provider }
  const done = inSpan('lease', { attributes, from: lease }, run).catch((error: unknown) => {
    audience.close(CLOSE_MOVED)
    log.error({ err: error, lease: lease._id }, 'the end of a lease could not be recorded')
  })
  return { lease, join: audience.join, end, done }
}

interface Flow {
  lease: Lease
  audience: Audience
  runtime: FarmRuntime
  /** Why the flow ends early, as long as nothing was handed over. */
  signal: AbortSignal
  /** Somebody else holds the lease, or this node ends: nothing is recorded here any more. */
  lost: AbortSignal
  setLogin: (login: Login | undefined) => void
  setLive: () => void
}

/** From the login page to the connection. Throws a signal's reason. */
async function flow(options: Flow): Promise<LeaseOutcome> {
  const { lease, audience, runtime, lost } = options
  if (!lease.handOver) {
    if (lease.resumed && lease.place) audience.notify('resumed')
    // A fence beyond the first claim says that another browser has been lost, unless it was given up.
    else if (lease.fence > 1 && !lease.resumed) audience.notify('restarted')
    await logInAndHandOver(options)
  }
  audience.setState('checking')
  return awaitConnection({ lease, runtime, signal: lost })
}

async function logInAndHandOver(options: Flow): Promise<void> {
  const { lease, audience, runtime, signal } = options
  const profile = runtime.profiles.find(({ id }) => id === lease.provider)
  if (!profile) throw new LeaseEnd('no_browser')
  const place = openPlace({ lease, runtime })
  const state = place?.state ?? (await earlierState({ lease, profile, runtime }))
  const begin = { address: place?.address ?? profile.loginUrl, state }
  for (let browsers = 1; ; browsers++) {
    try {
      return await inOneBrowser({ ...options, ...begin, profile })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof LeaseEnd) throw error
      if (!(error instanceof BrowserLost)) runtime.log.warn({ err: error, lease: lease._id }, 'a context failed')
      if (browsers === MOST_BROWSERS) throw new LeaseEnd('no_browser')
      audience.setState('starting')
      audience.notify('restarted')
    } finally {
      options.setLogin(undefined)
    }
  }
}

interface OneBrowser extends Flow {
  profile: ProviderProfile
  address: string
  state: Place['state'] | undefined
}

async function inOneBrowser(options: OneBrowser): Promise<void> {
  const { lease, audience, runtime, signal, setLogin, profile } = options
  const browser = await takeBrowser(options)
  const pulse = watchBrowser({ browser, clock: runtime.clock })
  // Whatever a browser is asked: who waits for it hears of the end of the flow, and of the browser's own.
  const ends = AbortSignal.any([signal, pulse.lost])
  let login: Login | undefined
  try {
    login = await unlessAborted(ends, openLogin({ ...options, browser, signal: ends, onOpen: options.setLive }))
    setLogin(login)
    const session = await unlessAborted(ends, login.session)
    setLogin(undefined)
    audience.setState('checking')
    const sealing = sealSession({ lease, context: login.context, session, profile, runtime })
    const args = await unlessAborted(ends, sealing)
    await handOver({ lease, args, runtime, signal })
  } catch (error) {
    const isAway = signal.reason instanceof LeaseEnd && signal.reason.kind === 'away'
    const place = isAway && login && (await sealPlace({ lease, context: login.context, profile, runtime }))
    if (place) lease.place = place
    throw error
  } finally {
    pulse.stop()
    await within(CLOSE_MS, browser.close(), { clock: runtime.clock, late: () => new Error('it hangs') }).catch(
      () => undefined,
    )
  }
}

/** Throws `LeaseEnd` where this node cannot have one: another may. */
async function takeBrowser({ runtime, signal }: Pick<Flow, 'runtime' | 'signal'>): Promise<Browser> {
  const waiting = new AbortController()
  const taking = runtime.browsers.take(AbortSignal.any([signal, waiting.signal]))
  try {
    return await within(TAKE_MS, taking, { clock: runtime.clock, late: () => new LeaseEnd('stopping') })
  } finally {
    waiting.abort()
  }
}
