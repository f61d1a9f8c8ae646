import { numbersOf } from '../../core/numbers.ts'
import { inSpan, traceOutcome } from '../../core/tracing.ts'
import { heldBy } from '../../schemas/claims.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { releaseAt } from '../connection/claimed.ts'
import { afterCrash, type Crash } from '../crash.ts'
import type { ActorRuntime } from '../runtime.ts'
import { type SyncOptions, syncConnection } from './sync-connection.ts'

/** What the connection actor does when its connection is due: one sync; a crash is counted, and waited out or set aside. */
export function whenDue(options: SyncOptions): Promise<void> {
  const { _id, appId, provider } = options.connection
  const attributes = { 'ccs.connection_id': _id, 'ccs.app_id': appId, 'ccs.provider': provider }
  return inSpan('sync', { attributes }, () => syncOnce(options))
}

async function syncOnce(options: SyncOptions): Promise<void> {
  const { connection, runtime } = options
  try {
    await syncConnection(options)
  } catch (error) {
    if (error instanceof ClaimLost) return
    traceOutcome('crashed')
    runtime.log.error({ err: error, connectionId: connection._id }, 'connection crashed')
    await countSyncCrash({ connection, crash: { error }, runtime })
  }
}

/** Writes a crash of a held connection's sync down, and gives it back: due again later, or set aside until an operator looks. */
export async function countSyncCrash({
  connection,
  crash,
  runtime: { clock, metrics },
}: {
  connection: Connection
  crash: Crash
  runtime: Pick<ActorRuntime, 'clock' | 'metrics'>
}): Promise<void> {
  // Given back already where only the answer to the last write was lost.
  const held = { ...heldBy(connection), claimedBy: trusted({ $exists: true }) }
  // A sync that got on since it was claimed has begun to count anew.
  const present = await Connections.findOne(held).select({ crashes: 1 }).lean<Pick<Connection, 'crashes'>>()
  if (!present) return
  numbersOf(metrics).syncs.inc({ outcome: 'crashed' })
  const { crashes, retryAt, reason } = afterCrash({ before: present.crashes, crash, clock })
  const release = releaseAt(retryAt)
  await Connections.updateOne(held, {
    $set: {
      crashes,
      ...release.$set,
      ...(retryAt === null && { quarantinedAt: clock.now(), 'sync.outcome': reason }),
    },
    // One that was cut short by its process's death goes first again.
    $unset: { ...release.$unset, ...(crash !== 'lapsed' && { awaitsFirstSync: 1 }) },
  })
}
