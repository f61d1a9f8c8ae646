import { newId } from '../../core/ids.ts'
import { createProviderClient, type ProviderClient } from '../../provider/client.ts'
import {
  ProviderContractError,
  ProviderRateLimitedError,
  ProviderUnavailableError,
  SessionEndedError,
} from '../../provider/errors.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { type Account, Accounts } from '../../schemas/connection/account.ts'
import { type Connection, Connections, type Credential } from '../../schemas/connection/connection.ts'
import { ClaimLost, YieldRequested } from '../../schemas/held-claims.ts'
import { type OutboxEntry, outboxEntry, withEvents } from '../../schemas/outbox.ts'
import { type Counts, countRun, importedEvents, inBrief } from '../archive/counts.ts'
import { leaveNothingBehind } from '../archive/purge-data.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { Slot } from '../slots.ts'
import { nextSync, type Outcome, syncBudget } from '../sync/cadence.ts'
import { createPace, paceIdOf } from '../sync/pace.ts'
import { readAccount } from '../sync/read.ts'
import { releaseAt, writeHeld } from './claimed.ts'
import { isKeyed, type Keyed, openArchiveKey, openCredential, sealCredential } from './keys.ts'

/** A fold that waits for the connection gets it before the next sync does (machine time). */
const YIELD_WAIT_MS = 5_000

export interface SyncOptions {
  /** As claimed. */
  connection: Connection
  runtime: ActorRuntime
  signal: AbortSignal
  /** Given up between two pages once it is wanted. */
  slot?: Slot
}

/**
 * One sync of a claimed connection (docs/behaviour.md, Sync cadence): reads the account, stores what is new, reports once, and says when the
 * next one is due. A run that a crash cut short is taken up under the same id, so its report counts everything it ever stored.
 */
export async function syncConnection(options: SyncOptions): Promise<void> {
  const { connection, runtime, signal } = options
  if (connection.status !== 'active' || !isKeyed(connection) || !connection.credential || !connection.archiveId) {
    await writeHeld(connection, releaseAt(null))
    return
  }
  const control = new AbortController()
  const release = runtime.held.hold(Connections, connection, (reason) => control.abort(reason))
  try {
    await runSync({ ...options, connection, signal: AbortSignal.any([signal, control.signal]) })
  } catch (error) {
    if (!(error instanceof ClaimLost)) throw error
    await leaveNothingBehind(connection)
    throw error
  } finally {
    release()
  }
}

/**
 * The run that this sync goes on with: one that was cut short, an ingestion's too where that was given up, or a new one. Null while an
 * ingestion that was cut short has still to be taken up: what it stored is for it to tell.
 */
async function runToTakeUp({ sync: { runId } }: Connection): Promise<string | null> {
  if (!runId) return newId()
  const command = await Commands.findById(runId).select({ state: 1 }).lean<Pick<Command, 'state'>>()
  if (!command || command.state === 'failed') return runId
  return command.state === 'done' ? newId() : null
}

async function runSync({ connection, runtime, signal, slot }: SyncOptions & { connection: Keyed }): Promise<void> {
  const runId = await runToTakeUp(connection)
  if (runId === null) {
    await writeHeld(connection, releaseAt(new Date(runtime.clock.now().getTime() + YIELD_WAIT_MS)))
    return
  }
  // A run that is taken up looks at everything again: what it left as it was is counted anew.
  await writeHeld(connection, { $set: { 'sync.runId': runId, 'sync.unchanged': 0 } })
  const profile = runtime.profiles.find(({ id }) => id === connection.provider)
  const account = await Accounts.findById(connection.accountId).lean<Account>()
  if (!profile) throw new Error(`provider ${connection.provider} is not configured`)
  if (!account?.archiveId || account.archiveId !== connection.archiveId)
    throw new Error('the account has another archive')

  const progress = { unchanged: 0, sessionVerified: false }
  const credential = credentialOf(connection, runtime)
  const accountKnown = credential.account?.id
  let halted: { error: unknown } | undefined
  const pace = createPace({
    paceId: paceIdOf({ ...runtime, provider: profile.id, providerAccountId: accountKnown ?? account._id }),
    requestsPerMinute: profile.requestsPerMinute,
    clock: runtime.clock,
    signal,
  })
  const client = createProviderClient({
    profile,
    credential,
    clock: runtime.clock,
    signal,
    pace: async () => {
      await pace()
      if (halted) throw new ReadingHalted('the reading has ended', { cause: halted.error })
    },
    onRotate: (credential) => storeCredential(connection, credential, runtime),
  })
  const end = runtime.clock.elapsed() + syncBudget(runtime.clock)
  const isSpent = () => runtime.clock.elapsed() > end
  const read = async () => {
    const session = await client.session()
    if (!session.usable) throw new SessionEndedError(session.reason)
    if (accountKnown !== undefined && session.account.id !== accountKnown)
      throw new SessionEndedError('the session belongs to another account by now')
    progress.sessionVerified = true
    return readAccount({
      account: { ...account, archiveId: account.archiveId ?? '' },
      archiveKey: openArchiveKey({ connection, keyring: runtime.keyring }),
      runId,
      client,
      pageSize: profile.pageSize,
      clock: runtime.clock,
      log: runtime.log,
      isOver: () => signal.aborted || isSpent() || (slot?.isWanted() ?? false),
      progress,
      halt: (error) => {
        halted ??= { error }
      },
      checkpoint: async () => {
        await writeHeld(connection, { $set: { 'sync.unchanged': progress.unchanged } })
      },
    })
  }
  const outcome = await outcomeOf({ signal, read, isSpent })
  await report({ connection, runtime, runId, outcome, ...progress })
}

const credentialOf = (connection: Keyed, { keyring }: ActorRuntime): Credential =>
  openCredential({
    id: connection._id,
    key: keyring.unwrap(connection.key),
    sealed: connection.credential ?? Buffer.alloc(0),
  })

async function storeCredential(
  connection: Keyed,
  next: ReturnType<ProviderClient['credential']>,
  runtime: ActorRuntime,
): Promise<void> {
  const key = runtime.keyring.unwrap(connection.key)
  const credential = { ...credentialOf(connection, runtime), ...next }
  await writeHeld(connection, { $set: { credential: sealCredential({ id: connection._id, key, credential }) } })
}

/** Thrown instead of sending another request once something (`cause`) has ended the reading. */
class ReadingHalted extends Error {}

/** Turns what the provider did into how the sync ended; anything unexpected is thrown on and counts as a crash. */
async function outcomeOf({
  signal,
  read,
  isSpent,
}: {
  signal: AbortSignal
  read: () => Promise<boolean>
  isSpent: () => boolean
}): Promise<Outcome> {
  try {
    if (await read()) return { kind: 'complete' }
    return isSpent() ? { kind: 'more' } : interrupted(signal)
  } catch (thrown) {
    const error: unknown = thrown instanceof ReadingHalted ? thrown.cause : thrown
    const aborted: unknown = signal.aborted ? signal.reason : undefined
    if (aborted instanceof ClaimLost || error instanceof ClaimLost) throw aborted instanceof ClaimLost ? aborted : error
    if (signal.aborted) return interrupted(signal)
    if (error instanceof SessionEndedError) return { kind: 'session-ended', reason: error.message }
    if (error instanceof ProviderRateLimitedError) return { kind: 'rate-limited', retryAfterMs: error.retryAfterMs }
    if (error instanceof ProviderUnavailableError || error instanceof ProviderContractError)
      return { kind: 'unavailable', reason: error.message }
    throw error
  }
}

const interrupted = ({ reason }: AbortSignal): Outcome => ({
  kind: 'interrupted',
  resumeInMs: reason instanceof YieldRequested ? YIELD_WAIT_MS : 0,
})

async function report({
  connection,
  runtime,
  runId,
  outcome,
  unchanged,
  sessionVerified,
}: {
  connection: Keyed
  runtime: ActorRuntime
  runId: string
  outcome: Outcome
  unchanged: number
  sessionVerified: boolean
}): Promise<void> {
  const now = runtime.clock.now()
  const counts = await countRun({ archiveId: connection.archiveId ?? '', runId, unchanged })
  const foundSomething = counts.inserted + counts.updated > 0
  const next = nextSync({ outcome, foundSomething, intervalMs: connection.sync.intervalMs, clock: runtime.clock })
  const lastSyncAt = sessionVerified ? now : connection.lastSyncAt
  const events: OutboxEntry[] = importedEvents({ connection, runId, counts, at: now })
  if (outcome.kind === 'session-ended')
    events.push(reauthNeeded({ connection, runId, reason: outcome.reason, lastSyncAt, at: now }))
  const release = releaseAt(next.due)
  const ended = {
    $set: {
      ...release.$set,
      'sync.unchanged': 0,
      'sync.outcome': describe(outcome, counts),
      ...(next.intervalMs !== undefined && { 'sync.intervalMs': next.intervalMs }),
      ...(lastSyncAt && { lastSyncAt }),
      ...(outcome.kind === 'session-ended' && { status: 'needs_reauth' }),
      crashes: 0,
    },
    $unset: { ...release.$unset, 'sync.runId': 1, ...(next.intervalMs === undefined && { 'sync.intervalMs': 1 }) },
  }
  await writeHeld(connection, withEvents(ended, events, now))
  if (events.length > 0) runtime.outboxHint()
  runtime.log.info({ connectionId: connection._id, outcome: outcome.kind, ...counts }, 'sync ended')
}

const describe = (outcome: Outcome, counts: Counts): string =>
  `${outcome.kind}${'reason' in outcome ? `: ${outcome.reason}` : ''} ${inBrief(counts)}`

const reauthNeeded = ({
  connection,
  runId,
  reason,
  lastSyncAt,
  at,
}: {
  connection: Connection
  runId: string
  reason: string
  lastSyncAt: Date | undefined
  at: Date
}): OutboxEntry =>
  outboxEntry({
    cause: runId,
    appId: connection.appId,
    event: 'reauth.needed',
    at,
    payload: {
      connectionId: connection._id,
      userRef: connection.userRef,
      provider: connection.provider,
      reason,
      lastSuccessfulPull: lastSyncAt?.toISOString() ?? null,
    },
  })
