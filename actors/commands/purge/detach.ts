import { type Connection, Connections, LIVE_STATUSES } from '../../../schemas/connection/connection.ts'
import { unsettleReservations } from '../../../schemas/connection/reservation.ts'
import { trusted } from '../../../schemas/database.ts'
import { withEvents } from '../../../schemas/outbox.ts'
import { cutShortEvents } from '../../archive/counts.ts'
import { REVOKED } from '../../connection/fold.ts'

/** What a connection that is being purged keeps until its last run was counted. */
const { 'sync.runId': _kept, ...DETACHED } = REVOKED

/**
 * Takes everything from a connection in one write, whoever holds it: from here on nobody can read its data, and no write of its holder
 * counts. What it was folded from and still has the same archive goes with it. Done already where it is revoked.
 */
export async function detach({
  connection: { _id, accountId },
  commandId,
  now,
}: {
  connection: Pick<Connection, '_id' | 'accountId'>
  commandId: string
  now: Date
}): Promise<void> {
  for (;;) {
    const live = await Connections.findOne({ _id, status: trusted({ $in: LIVE_STATUSES }) }).lean<Connection>()
    if (!live) break
    const { archiveId } = live
    await revoke(live, {
      $set: { status: 'revoked', revokedAt: now, purge: { commandId, ...(archiveId && { archiveId }) } },
      $unset: { ...DETACHED, claimableAt: 1, claimedBy: 1, yieldRequestedAt: 1 },
    })
  }
  await foldWhatItReplaced({ _id, now })
  // A reconnect that has decided for this archive and is not there yet decides anew.
  await unsettleReservations({ accountId })
}

async function foldWhatItReplaced({ _id, now }: { _id: string; now: Date }): Promise<void> {
  const connection = await Connections.findById(_id).select({ replaces: 1 }).lean<Pick<Connection, 'replaces'>>()
  if (!connection?.replaces.length) return
  for (;;) {
    const replaced = { _id: trusted({ $in: connection.replaces }), status: trusted({ $in: LIVE_STATUSES }) }
    const live = await Connections.findOne(replaced).lean<Connection>()
    if (!live) return
    const events = await cutShortEvents({ connection: live, at: now })
    const revoked = {
      $set: { status: 'revoked', revokedAt: now },
      $unset: { ...REVOKED, claimableAt: 1, claimedBy: 1, yieldRequestedAt: 1 },
    }
    await revoke(live, withEvents(revoked, events, now))
  }
}

/** Where it is as it was seen: nothing of a run that has begun since is overlooked. */
async function revoke({ _id, fence, sync }: Connection, update: Record<string, unknown>): Promise<void> {
  const seen = { _id, fence, 'sync.runId': sync.runId ?? trusted({ $exists: false }) }
  await Connections.updateOne(seen, { ...update, $inc: { fence: 1 } })
}
