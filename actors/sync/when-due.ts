import { heldBy } from '../../schemas/claims.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { releaseAt } from '../connection/claimed.ts'
import { CRASHES_TO_QUARANTINE, crashBackOff } from '../crash.ts'
import type { ActorRuntime } from '../runtime.ts'
import { type SyncOptions, syncConnection } from './sync-connection.ts'

/** What the connection actor does when its connection is due: one sync; a crash is counted, and waited out or quarantined. */
export async function whenDue(options: SyncOptions): Promise<void> {
  const { connection, runtime } = options
  try {
    await syncConnection(options)
  } catch (error) {
    if (error instanceof ClaimLost) return
    runtime.log.error({ err: error, connectionId: connection._id }, 'connection crashed')
    await afterCrash(connection, runtime)
  }
}

async function afterCrash(connection: Connection, { clock }: ActorRuntime): Promise<void> {
  const crashes = connection.crashes + 1
  const quarantine = crashes >= CRASHES_TO_QUARANTINE
  const release = releaseAt(quarantine ? null : clock.after(crashBackOff(crashes)))
  // Given back already where only the answer to the last write was lost.
  const held = { ...heldBy(connection), claimedBy: trusted({ $exists: true }) }
  await Connections.updateOne(held, {
    $set: { crashes, ...release.$set, ...(quarantine && { quarantinedAt: clock.now() }) },
    $unset: { ...release.$unset, awaitsFirstSync: 1 },
  })
}
