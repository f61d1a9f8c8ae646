import type { Request, RequestHandler, Response } from 'express'
import { SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { Apps } from '../../schemas/app/app.ts'
import { awaitCommand, writeCommand } from '../../schemas/command/commands.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { connectionProgress, NO_PROGRESS, type Progress } from '../../schemas/connection/progress.ts'
import { trusted } from '../../schemas/database.ts'
import { Users } from '../../schemas/user/user.ts'
import type { OpsConnections } from '../../wire/ops.ts'
import { OPERATOR } from '../access/operator.ts'
import { resultOf } from '../actions/command-result.ts'
import { goneSignal } from '../kit/abort-signal.ts'
import { parseInput } from '../kit/input.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { isoOrNull, listingQuery } from './query.ts'

const SYNC_WAIT_MS = 10 * SECOND
const STATUSES = new Set(['active', 'needs_reauth', 'revoked'])
/** The last character there is: ends a range of everything that begins with a text. */
const LAST = '\u{10ffff}'

/** GET /ops/connections?q=: a connection, user, account or app id, a status, or the beginning of a userRef; without q the newest. */
export const listConnections: RequestHandler = async (request, response) => {
  const { q, limit, appId } = parseInput(listingQuery, request.query)
  const filter = { ...(appId !== undefined && { appId }), ...(q === undefined ? {} : await matching(q, limit)) }
  const found = await Connections.find(filter).sort({ capturedAt: -1 }).limit(limit).lean<Connection[]>()
  const progress = await connectionProgress(found)
  const answer: OpsConnections = { connections: found.map((each) => view(each, progress.get(each._id) ?? NO_PROGRESS)) }
  response.json(answer)
}

async function matching(q: string, limit: number): Promise<Record<string, unknown>> {
  if (STATUSES.has(q)) return { status: q }
  const appIds = (await Apps.find().select({ _id: 1 }).lean()).map(({ _id }) => _id)
  if (appIds.includes(q)) return { appId: q }
  const users = await Users.find({ appId: trusted({ $in: appIds }), userRef: trusted({ $gte: q, $lt: `${q}${LAST}` }) })
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

function view(connection: Connection, progress: Progress): OpsConnections['connections'][number] {
  const { _id, claimedBy, sync, device } = connection
  const { appId, userId, userRef, provider, status, accountId, crashes, replaces } = connection
  return {
    id: _id,
    appId,
    userId,
    userRef,
    provider,
    status,
    accountId,
    capturedAt: connection.capturedAt.toISOString(),
    lastSyncAt: isoOrNull(connection.lastSyncAt),
    revokedAt: isoOrNull(connection.revokedAt),
    nextSyncAt: claimedBy === undefined ? isoOrNull(connection.claimableAt) : null,
    working: claimedBy !== undefined,
    outcome: sync?.outcome ?? null,
    crashes,
    quarantinedAt: isoOrNull(connection.quarantinedAt),
    conversationCount: progress.stored,
    progress,
    replaces,
    device: { ...device },
  }
}

/** POST /ops/connections/:id/sync */
export const postSync =
  ({ clock }: HttpRuntime) =>
  async (request: Request, response: Response): Promise<void> => {
    const connectionId = String(request.params['id']).toLowerCase()
    const connection = isUuid(connectionId) ? await Connections.findById(connectionId).lean<Connection>() : null
    if (!connection) throw new ServiceError('connection_not_found')
    if (connection.status === 'revoked') throw new ServiceError('connection_revoked')
    const id = await writeCommand({
      kind: 'sync-now',
      appId: connection.appId,
      target: connectionId,
      by: OPERATOR,
      args: { connectionId },
      now: clock.now(),
    })
    const signal = goneSignal(response)
    const command = await awaitCommand<'sync-now'>({ id, clock, timeoutMs: SYNC_WAIT_MS, signal })
    response.json({ ok: true, ...resultOf(command) })
  }
