import { ServiceError } from '../../core/errors.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { Users } from '../../schemas/user/user.ts'
import { ingestTarget } from '../../wire/ingest-export.ts'
import { parseInput } from '../kit/input.ts'

type Found = Pick<Connection, '_id' | 'status'>

/**
 * The connection that an export belongs to. Throws `ServiceError`: `missing_purge_target` or `two_purge_targets` where not exactly one of
 * `connectionId` and `userRef` is given, `user_not_found`, `connection_not_found`, `connection_revoked`.
 */
export async function findIngestTarget({
  appId,
  fields,
}: {
  appId: string
  fields: Record<string, unknown>
}): Promise<string> {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
  const { connectionId, userRef } = parseInput(ingestTarget, given)
  if (connectionId === undefined && userRef === undefined) throw new ServiceError('missing_purge_target')
  if (connectionId !== undefined && userRef !== undefined) throw new ServiceError('two_purge_targets')
  const connections = await Connections.find(
    connectionId === undefined ? { appId, userId: await findUser(appId, userRef ?? '') } : { _id: connectionId, appId },
  )
    .select({ status: 1 })
    .lean<Found[]>()
  const live = connections.filter(({ status }) => status !== 'revoked')
  const [first, second] = live
  if (second) {
    throw new ServiceError('invalid_parameter', {
      name: 'userRef',
      reason: 'the user has several connections; name one by connectionId',
    })
  }
  if (first) return first._id
  throw new ServiceError(connections.length > 0 ? 'connection_revoked' : 'connection_not_found')
}

async function findUser(appId: string, userRef: string): Promise<string> {
  const user = await Users.findOne({ appId, userRef }).select({ _id: 1 }).lean<{ _id: string }>()
  if (!user) throw new ServiceError('user_not_found')
  return user._id
}
