import type { Response } from 'express'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { isLarge, type ListedEntry, readPayloads } from '../../schemas/archive/conversation-body.ts'
import { type Position, readPage, type Selection } from '../../schemas/archive/conversation-order.ts'
import { batched } from '../../schemas/batched.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { conversationsQuery } from '../../wire/conversations.ts'
import { callerOf } from '../access/api-key.ts'
import { SENT } from '../kit/endpoint-router.ts'
import { parseInput } from '../kit/input.ts'
import { answeredUnchanged, sendPieces, takesGzip } from './answer.ts'
import { archiveVersion, type Versioned } from './archive-version.ts'
import { pagePieces, sendLargePage, unpacksToMuch } from './conversation-text.ts'
import { readCursor, writeCursor } from './cursor.ts'
import type { ApiHandler } from './handler.ts'
import { createOffsetIndex, type OffsetIndex } from './offset-index.ts'

interface Page {
  entries: ListedEntry[]
  total: number
  limit: number
  offset: number
  nextCursor: string | null
}

/** GET /api/conversations?connectionId=: the conversations of one connection, newest update first. */
export function getConversations({ clock }: { clock: Clock }): ApiHandler<'listConversations'> {
  const offsetIndex = createOffsetIndex({ clock })
  const findConnection = createConnectionFinder()
  return async ({ request, response }) => {
    const query = parseInput(conversationsQuery, request.query, { missing: { connectionId: 'missing_connection_id' } })
    const connection = await findConnection({ appId: callerOf(request).appId, connectionId: query.connectionId })
    const { archiveId } = connection
    const { limit, offset = 0, cursor, updatedAfter } = query
    const after = cursor === undefined ? undefined : readCursor(cursor)
    const page: Page = archiveId
      ? await readListing({
          selection: { archiveId, ...(updatedAfter && { updatedAfter }) },
          ...(after && { after: { key: after, inclusive: false } }),
          version: archiveVersion(connection),
          offsetIndex,
          limit,
          offset,
        })
      : { entries: [], total: 0, limit, offset, nextCursor: null }
    await send(response, page)
    return SENT
  }
}

type Found = Versioned & Pick<Connection, 'appId' | 'archiveId'>

/** Throws `connection_not_found` for an unknown id and another app's alike. Requests that come together share one read. */
function createConnectionFinder() {
  const find = batched<string, Found | undefined>(async (ids) => {
    const found = await Connections.find({ _id: trusted({ $in: [...new Set(ids)] }) })
      .select({ appId: 1, archiveId: 1, fence: 1, claimedBy: 1, settled: 1 })
      .lean<Found[]>()
    const byId = new Map(found.map((connection) => [connection._id, connection]))
    return ids.map((id) => byId.get(id))
  })
  return async ({ appId, connectionId }: { appId: string; connectionId: string }): Promise<Found> => {
    const connection = await find(connectionId)
    if (connection?.appId !== appId) throw new ServiceError('connection_not_found')
    return connection
  }
}

async function readListing({
  selection,
  after,
  version,
  offsetIndex,
  limit,
  offset,
}: {
  selection: Selection
  after?: Position
  version: string | null
  offsetIndex: OffsetIndex
  limit: number
  offset: number
}): Promise<Page> {
  const total = offsetIndex.total(selection, version)
  const read = async (): Promise<ListedEntry[]> => {
    const from = after ?? (await offsetIndex.find(selection, { offset, version }))
    // One more than is asked for tells whether there is a next page.
    return from === null ? [] : readPage({ selection, limit: limit + 1, ...(from && { from }) })
  }
  const [found, count] = await Promise.all([read(), total])
  const entries = found.slice(0, limit)
  const next = found[limit]
  const last = entries.at(-1)
  if (!after && next) offsetIndex.learn(selection, { offset: offset + limit, key: next, version })
  if (!after && offset > 0 && found[0]) offsetIndex.learn(selection, { offset, key: found[0], version })
  return { entries, total: count, limit, offset, nextCursor: next && last ? writeCursor(last) : null }
}

/** Reads the texts only where the client has not got them already. */
async function send(response: Response, { entries, ...rest }: Page): Promise<void> {
  const tail = `"total":${rest.total},"limit":${rest.limit},"offset":${rest.offset},"nextCursor":${JSON.stringify(rest.nextCursor)}}`
  const tagged = `${entries.map(({ _id, hash, updateTime }) => `${_id}${hash}${updateTime?.getTime()}`).join()}${tail}`
  if (answeredUnchanged(response, tagged)) return
  const conversations = await readPayloads(entries)
  // The client is gone, or was told that it took too long: nothing is unpacked for nobody.
  if (response.closed) return
  if (conversations.some(isLarge) || (unpacksToMuch(conversations) && !takesGzip(response)))
    return sendLargePage({ response, conversations, tail })
  await sendPieces(response, pagePieces(conversations, tail))
}
