import { isUuid } from '../../core/ids.ts'
import { Apps } from '../../schemas/app/app.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { beginningWith, trusted } from '../../schemas/database.ts'
import { Users } from '../../schemas/user/user.ts'

const STATUSES = new Set(['active', 'needs_reauth', 'revoked'])

/** By `q`: a connection, user, account or app id, a status, or the beginning of a userRef; without it the newest. */
export async function listConnections({
  q,
  appId,
  limit,
}: {
  q?: string | undefined
  appId?: string | undefined
  limit: number
}): Promise<Connection[]> {
  const filter = { ...(appId !== undefined && { appId }), ...(q === undefined ? {} : await matching(q, limit)) }
  return Connections.find(filter).sort({ capturedAt: -1 }).limit(limit).lean<Connection[]>()
}

async function matching(q: string, limit: number): Promise<Record<string, unknown>> {
  if (STATUSES.has(q)) return { status: q }
  const appIds = (await Apps.find().select({ _id: 1 }).lean()).map(({ _id }) => _id)
  if (appIds.includes(q)) return { appId: q }
  const users = await Users.find({ appId: trusted({ $in: appIds }), userRef: beginningWith(q) })
    .select({ appId: 1 })
    .limit(limit)
    .lean<{ _id: string; appId: string }[]>()
  const id = q.toLowerCase()
  const userIds = [...users.map(({ _id }) => _id), ...(isUuid(id) ? [id] : [])]
  return {
    $or: [
      { _id: isUuid(id) ? id : q },
      { accountId: q },
      { appId: trusted({ $in: appIds }), userId: trusted({ $in: userIds }) },
    ],
  }
}
