import mongoose, { type Model } from 'mongoose'
import { type Held, heldBy } from '../claims.ts'
import { isDuplicate, trusted } from '../database.ts'
import { type Connection, Connections, LIVE_STATUSES } from './connection.ts'

/**
 * The place of a connection that a connect command is about to create, in the collection of connections and under the connection's id
 * (docs/architecture.md, idea 11). It is taken before anything is decided about the connection; what is decided holds as long as
 * nobody deletes the place or counts its fence up: a deletion, or another actor with the same command. The write that makes it a
 * connection finds nothing then. It has neither app nor userRef, so that no listing shows it.
 */
interface PendingConnection {
  _id: string
  status: 'pending'
  userId: string
  accountId: string
  fence: number
}

const schema = new mongoose.Schema<PendingConnection>(
  {
    _id: { type: String, required: true },
    status: { type: String, enum: ['pending'], required: true },
    userId: { type: String, required: true },
    accountId: { type: String, required: true },
    fence: { type: Number, required: true },
  },
  { collection: 'connections', versionKey: false },
)

export const PendingConnections: Model<PendingConnection> = mongoose.model<PendingConnection>(
  'PendingConnection',
  schema,
)

/** Tells a place from the connection that it becomes. */
const PENDING: Record<string, unknown> = { status: 'pending' }

/** Names a place as it was taken. */
export type Reservation = Held

/** Takes the place, from whoever had it before; null where the connection is there already. */
export async function reserve({
  connectionId,
  userId,
  accountId,
}: {
  connectionId: string
  userId: string
  accountId: string
}): Promise<Reservation | null> {
  const take = () =>
    PendingConnections.findOneAndUpdate(
      { _id: connectionId, status: 'pending' },
      { $inc: { fence: 1 } },
      { returnDocument: 'after' },
    ).lean<Reservation>()
  const taken = await take()
  if (taken) return taken
  try {
    await PendingConnections.create({ _id: connectionId, status: 'pending', userId, accountId, fence: 0 })
    return { _id: connectionId, fence: 0 }
  } catch (error) {
    if (!isDuplicate(error)) throw error
    return take()
  }
}

/** Makes the connection of it, in one write; false where the place is not this actor's any more. */
export async function fillReservation(
  reservation: Reservation,
  connection: Omit<Connection, '_id' | 'fence'>,
): Promise<boolean> {
  const { matchedCount } = await Connections.updateOne({ ...heldBy(reservation), ...PENDING }, { $set: connection })
  return matchedCount > 0
}

/** Gives the place up, whoever has it. */
export async function cancelReservation({ connectionId }: { connectionId: string }): Promise<void> {
  await PendingConnections.deleteMany({ _id: connectionId, status: 'pending' })
}

/** Gives up every place of a user. */
export async function cancelReservationsOf({ userId }: { userId: string }): Promise<void> {
  await PendingConnections.deleteMany({ userId, status: 'pending' })
}

/** Lets every connection that is about to be of this account be decided anew. */
export async function unsettleReservations({ accountId }: { accountId: string }): Promise<void> {
  await PendingConnections.updateMany({ accountId, status: 'pending' }, { $inc: { fence: 1 } })
}

/** Whether an archive is that of a connection that is in use. */
export const isInUse = async ({ accountId, archiveId }: { accountId: string; archiveId: string }): Promise<boolean> =>
  (await Connections.exists({ accountId, archiveId, status: trusted({ $in: LIVE_STATUSES }) })) !== null
