import type { Connection } from '../../schemas/connection/connection.ts'
import { connectionProgress, NO_PROGRESS, type Progress } from '../../schemas/connection/progress.ts'
import type { OpsConnections } from '../../wire/ops.ts'
import { getConnection } from '../actions/get-connection.ts'
import { listConnections } from '../actions/list-connections.ts'
import { syncNow } from '../actions/sync-now.ts'
import { goneSignal } from '../kit/abort-signal.ts'
import { viewDeliveries } from './deliveries.ts'
import type { OpsPart } from './handler.ts'
import { isoOrNull } from './iso.ts'

export const connectionHandlers: OpsPart<'listConnections' | 'getConnection' | 'syncConnection'> = (runtime) => ({
  listConnections: async ({ query }) => {
    const found = await listConnections(query)
    const progress = await connectionProgress(found)
    return { connections: found.map((each) => view(each, progress.get(each._id) ?? NO_PROGRESS)) }
  },
  getConnection: async ({ params }) => {
    const { connection, deliveries } = await getConnection(params)
    const progress = await connectionProgress([connection])
    return {
      connection: view(connection, progress.get(connection._id) ?? NO_PROGRESS),
      syncs: (connection.sync.history ?? []).map(({ at, outcome }) => ({ at: at.toISOString(), outcome })).reverse(),
      deliveries: await viewDeliveries(deliveries),
    }
  },
  syncConnection: async ({ params, by, response }) => {
    const connectionId = params.id.toLowerCase()
    return { ok: true, ...(await syncNow({ connectionId, by, runtime, signal: goneSignal(response) })) }
  },
})

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
