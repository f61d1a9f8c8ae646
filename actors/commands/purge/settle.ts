import { type Connection, Connections } from '../../../schemas/connection/connection.ts'
import { isInUse } from '../../../schemas/connection/reservation.ts'
import { trusted } from '../../../schemas/database.ts'
import { type OutboxEntry, withEvents } from '../../../schemas/outbox.ts'
import { cutShortAndStored, cutShortEvents } from '../../archive/counts.ts'

/**
 * Decides what of a detached connection is deleted, and counts it before anything goes: once, so that a deletion that is taken up
 * answers the same. An archive that a reconnect has taken over is that connection's; the run that was cut short is told of all the same.
 */
export async function settle({ connection, now }: { connection: Connection; now: Date }): Promise<void> {
  const { _id, purge } = connection
  if (!purge || purge.conversationsDeleted !== undefined) return
  const { archiveId, conversationsDeleted, events } = await decide(connection, now)
  await Connections.updateOne(
    { _id, 'purge.conversationsDeleted': trusted({ $exists: false }) },
    withEvents(
      {
        $set: { 'purge.conversationsDeleted': conversationsDeleted },
        $unset: { 'sync.runId': 1, ...(!archiveId && { 'purge.archiveId': 1 }) },
      },
      events,
      now,
    ),
  )
}

interface Decision {
  /** What is deleted; undefined: nothing. */
  archiveId: string | undefined
  conversationsDeleted: number
  events: OutboxEntry[]
}

async function decide(connection: Connection, at: Date): Promise<Decision> {
  const { accountId, purge } = connection
  const archiveId = purge?.archiveId
  if (!archiveId) return { archiveId: undefined, conversationsDeleted: 0, events: [] }
  const before = { ...connection, archiveId }
  if (await isInUse({ accountId, archiveId })) {
    return { archiveId: undefined, conversationsDeleted: 0, events: await cutShortEvents({ connection: before, at }) }
  }
  // Both from one look: what a sync stores meanwhile is deleted with the rest and told by neither.
  const { events, stored } = await cutShortAndStored({ connection: before, at })
  return { archiveId, conversationsDeleted: (await wasCounted(connection)) ? 0 : stored, events }
}

/** Two connections of one account may have had the same archive, between a reconnect and its fold. */
const wasCounted = async ({ _id, accountId, purge }: Connection): Promise<boolean> =>
  (await Connections.exists({
    accountId,
    _id: trusted({ $ne: _id }),
    'purge.archiveId': purge?.archiveId ?? '',
    'purge.conversationsDeleted': trusted({ $exists: true }),
  })) !== null
