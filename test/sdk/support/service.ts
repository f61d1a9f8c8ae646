import { type FakeApi, type Reply, type SeenRequest, startApi } from './api.ts'

export type FakeService = FakeApi & { connections: Record<string, unknown>[] }

export const CONNECTION = '3f0a6c1e-0d1f-4d5b-9a53-2f1f0c7e5a01'

const minutes = (count: number) => new Date(Date.UTC(2026, 8, 1, 9, count)).toISOString()

function conversation(index: number) {
  const title = index === 0 ? 'A trip to the lakes <b>in May</b>' : `Conversation number ${index + 1}`
  const image = { type: 'image', asset_pointer: 'file-1', name: 'map.png', size_bytes: 10, width: 640, height: 480 }
  const messages = [
    {
      role: 'user',
      content: `Question ${index + 1}: where should we go?`,
      timestamp: minutes(1),
      attachments: [image],
    },
    {
      role: 'assistant',
      content: 'Take the train to the lakes.\n\nThen walk.',
      timestamp: minutes(2),
      model: 'model-1',
    },
    { role: 'tool', content: 'print("42")', contentType: 'code', timestamp: null },
  ]
  return {
    id: `c-${index}`,
    external_id: `x-${index}`,
    title,
    payload: { title, messages },
    update_time: minutes(60 - index),
  }
}

/** Plays the whole service for the example partner: one user `demo-user` with an account of 30 conversations. */
export async function startService(): Promise<FakeService> {
  const connection = {
    id: CONNECTION,
    provider: 'sandbox-assistant',
    status: 'active',
    capturedAt: minutes(0),
    lastSyncAt: minutes(3),
    conversationCount: 30,
    recentConversationCount: 4,
    accountId: 'account-1',
  }
  const old = { ...connection, id: 'old', status: 'needs_reauth', conversationCount: 0, lastSyncAt: null }
  const connections: Record<string, unknown>[] = [connection, old]

  function list({ query }: SeenRequest): Reply {
    const first = connections[0]
    const all =
      query['connectionId'] === CONNECTION && first?.['status'] === 'active'
        ? Array.from({ length: 30 }, (_, index) => conversation(index))
        : []
    const start = Number(query['cursor'] ?? 0)
    const limit = Number(query['limit'])
    const page = all.slice(start, start + limit)
    const nextCursor = start + limit < all.length ? String(start + limit) : null
    return { body: { conversations: page, total: all.length, limit, offset: 0, nextCursor } }
  }

  function purge(): Reply {
    const ended = connections.filter(({ status }) => status !== 'revoked')
    for (const one of ended) Object.assign(one, { status: 'revoked', conversationCount: 0 })
    return { body: { ok: true, connectionsRevoked: ended.length, conversationsDeleted: 30, deletedAt: minutes(9) } }
  }

  const api = await startApi((request) => {
    if (request.path === '/api/conversations') return list(request)
    if (request.path === '/api/purge') return purge()
    if (request.path === '/start') return { headers: { 'content-type': 'text/plain' }, body: 'The hosted page' }
    if (request.query['userRef'] === 'over-limit') {
      return { status: 429, headers: { 'retry-after': '7' }, body: { error: 'Rate limit exceeded' } }
    }
    if (request.query['userRef'] !== 'demo-user') return { status: 404, body: { error: 'User not found' } }
    const connected = connections.some(({ status }) => status === 'active')
    const needsReauth = connections.some(({ status }) => status === 'needs_reauth')
    const counts = { recentConversationCount: 4, recentWindowDays: 30 }
    return { body: { userRef: 'demo-user', connected, needsReauth, ...counts, connections } }
  })
  return { ...api, connections }
}
