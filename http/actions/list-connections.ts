import { isUuid } from '../../core/ids.ts'
import { Apps } from '../../schemas/app/app.ts'
import { type Connection, Connections, OF_ACCOUNT, OF_USER } from '../../schemas/connection/connection.ts'
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
  const searches: Search[] = q === undefined ? [{ filter: {} }] : await matching(q, limit)
  const inApp = searches.filter(({ filter }) => appId === undefined || (filter['appId'] ?? appId) === appId)
  const lists = await Promise.all(
    inApp.map(({ filter, index }) => {
      const query = Connections.find({ ...(appId !== undefined && { appId }), ...filter })
      return (index ? query.hint(index) : query).sort({ capturedAt: -1 }).limit(limit).lean<Connection[]>().exec()
    }),
  )
  const found = new Map(lists.flat().map((connection) => [connection._id, connection]))
  return [...found.values()].sort((a, b) => b.capturedAt.getTime() - a.capturedAt.getTime()).slice(0, limit)
}

interface Search {
  filter: Record<string, unknown>
  /** A planner that guesses walks through all connections by their time instead, until it has found enough: where few match, to the end. */
  index?: Record<string, 1 | -1>
}

/** Each is a search of its own: together no index serves them. */
async function matching(q: string, limit: number): Promise<Search[]> {
  if (STATUSES.has(q)) return [{ filter: { status: q } }]
  const appIds = (await Apps.find().select({ _id: 1 }).lean()).map(({ _id }) => _id)
  if (appIds.includes(q)) return [{ filter: { appId: q } }]
  const users = await Users.find({ appId: trusted({ $in: appIds }), userRef: beginningWith(q) })
    .select({ appId: 1 })
    .limit(limit)
    .lean<{ _id: string; appId: string }[]>()
  const id = q.toLowerCase()
  const userIds = [...users.map(({ _id }) => _id), ...(isUuid(id) ? [id] : [])]
  return [
    { filter: { _id: isUuid(id) ? id : q }, index: { _id: 1 } },
    { filter: { accountId: q }, index: OF_ACCOUNT },
    { filter: { userId: trusted({ $in: userIds }) }, index: OF_USER },
  ]
}
