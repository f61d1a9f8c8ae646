import { type Account, Accounts } from '../../schemas/connection/account.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { leaveNothingBehind } from '../archive/purge-data.ts'
import { releaseAt, writeHeld } from '../connection/claimed.ts'
import { isKeyed, type Keyed, openArchiveKey } from '../connection/keys.ts'
import type { ActorRuntime } from '../runtime.ts'
import { createAccountClient } from './account-client.ts'
import { syncBudget } from './cadence.ts'
import { createCheckpoint } from './checkpoint.ts'
import { outcomeOf } from './outcome.ts'
import { readAccount } from './read.ts'
import { reportSync } from './report.ts'
import type { Slot } from './slots.ts'
import { beginRun } from './sync-run.ts'

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

async function runSync({ connection, runtime, signal, slot }: SyncOptions & { connection: Keyed }): Promise<void> {
  const runId = await beginRun(connection, runtime)
  if (runId === null) return
  const profile = runtime.profiles.find(({ id }) => id === connection.provider)
  if (!profile) throw new Error(`provider ${connection.provider} is not configured`)
  const account = await accountOf(connection)
  const { archiveId } = account

  const { clock, log, keyring } = runtime
  const progress = { unchanged: 0, written: 0, sessionVerified: false }
  const { client, verifySession, halt } = createAccountClient({ connection, account, profile, runtime, signal })
  const end = clock.elapsed() + syncBudget(clock)
  const isSpent = () => clock.elapsed() > end
  const read = async () => {
    await verifySession()
    progress.sessionVerified = true
    return readAccount({
      account: { ...account, archiveId },
      archiveKey: openArchiveKey({ connection, keyring }),
      runId,
      client,
      pageSize: profile.pageSize,
      clock,
      log,
      isOver: () => signal.aborted || isSpent() || (slot?.isWanted() ?? false),
      progress,
      halt,
      checkpoint: createCheckpoint({ connection, progress }),
    })
  }
  const outcome = await outcomeOf({ signal, read, isSpent })
  await reportSync({ connection, runtime, runId, outcome, ...progress })
}

/**
 * The account with what was read of this connection's archive. The connection says which archive that is: what the account knows of
 * another one, which was deleted or whose reconnect never came to be, is forgotten and its history read anew.
 */
async function accountOf({ accountId, archiveId = '' }: Keyed): Promise<Account & { archiveId: string }> {
  await Accounts.updateOne(
    { _id: accountId, archiveId: trusted({ $ne: archiveId }) },
    { $set: { archiveId, backfill: { done: false } }, $inc: { backfillRevision: 1 } },
  )
  const account = await Accounts.findById(accountId).lean<Account>()
  if (!account) throw new Error('the account is gone')
  return { ...account, archiveId }
}
