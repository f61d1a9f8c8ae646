import * as assert from 'uvu/assert'
import { Conversations } from '../../../schemas/archive/conversation.ts'
import { BrowserProfiles } from '../../../schemas/connection/browser-profile.ts'
import { type Connection, Connections } from '../../../schemas/connection/connection.ts'
import { Users } from '../../../schemas/user/user.ts'
import { interceptWrites, type Write } from '../../support/writes.ts'

export const says =
  (text: string) =>
  ([, update]: unknown[]): boolean =>
    JSON.stringify(update).includes(text)

/** The write that makes a connection of its place. */
export const CREATION = { collection: 'connections', method: 'updateOne', holds: says('"active"') } as const
/** The write that ends a predecessor. */
export const FOLD = { collection: 'connections', method: 'findOneAndUpdate', holds: says('"revoked"') } as const

/** Lets writes of this kind fail, as where their process dies; returns how to end that. */
export function failing({
  collection,
  method,
  holds,
}: Pick<Write, 'collection' | 'method'> & { holds(args: unknown[]): boolean }): () => void {
  return interceptWrites(async (write, proceed) => {
    const meant = write.collection === collection && write.method === method && holds(write.args)
    return meant ? Promise.reject(new Error('the process died')) : proceed()
  })
}

export const connectionsOf = (userRef: string) => Connections.find({ userRef }).lean<Connection[]>()
export const liveOf = async (userRef: string) =>
  (await connectionsOf(userRef)).filter(({ status }) => status !== 'revoked')

/** Nothing of the user is in use, nothing can be read, nothing is left. */
export async function assertGone(userRef: string): Promise<void> {
  const connections = await connectionsOf(userRef)
  const user = await Users.findOne({ userRef }).lean()
  for (const { _id, status, key, credential, archiveId, archiveKey, purge } of connections) {
    assert.equal(
      { status, key, credential, archiveId, archiveKey },
      { status: 'revoked', key: undefined, credential: undefined, archiveId: undefined, archiveKey: undefined },
    )
    assert.is(await BrowserProfiles.countDocuments({ _id }), 0)
    if (purge?.archiveId) assert.is(await Conversations.countDocuments({ archiveId: purge.archiveId }), 0)
  }
  assert.is(await Connections.collection.countDocuments({ userId: user?._id, status: 'pending' } as never), 0)
}
