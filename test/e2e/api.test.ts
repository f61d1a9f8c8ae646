import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createClient, signLink } from '../../sdk/src/index.ts'
import { sessionCookie } from '../provider/sandbox.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const api = suite('the API on the whole service')

const EMAIL = 'native@example.test'
const USER = 'native-user'

let service: Service
let receiver: Receiver
api.before(async () => {
  receiver = await startReceiver()
  service = await startService({ env: { TIME_SCALE: '60', WEBHOOK_URL: receiver.url } })
})
api.after(async () => {
  await service?.stop()
  await receiver?.stop()
})

const client = () => createClient({ baseUrl: service.baseUrl, apiKey: service.app.apiKey, appId: service.app.appId })
const native = async (body: object): Promise<{ status: number; body: Record<string, string> }> => {
  const answer = await fetch(`${service.baseUrl}/api/connect-native`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, string> }
}
const control = async <T>(order: object): Promise<T> => {
  const answer = await fetch(`${service.provider.site}/__control`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  })
  return (await answer.json()) as T
}
const event = (name: string) => until(name, () => receiver.named(name)[0])

let connectionId = ''

api('a native app connects: start, login in its own WebView, capture', async () => {
  const { token } = signLink({ ...service.app, userRef: USER, baseUrl: service.baseUrl })
  const { body: started } = await native({
    action: 'start',
    token,
    device: { platform: 'iOS', model: 'x'.repeat(200) },
  })
  assert.is(started['provider'], service.provider.id)
  const attempt = { action: 'capture', captureNonce: started['captureNonce'], clientSecret: started['clientSecret'] }

  const login = await fetch(`${service.provider.site}/login`, {
    method: 'POST',
    body: new URLSearchParams({ email: EMAIL, password: 'secret' }),
    redirect: 'manual',
  })
  const sessionToken = sessionCookie(login)
  const waiting = await native({ ...attempt, sessionToken })
  assert.equal([waiting.status, waiting.body['status']], [200, 'waiting'])

  const cookie = `${started['cookieName']}=${sessionToken}`
  const session = (await (await fetch(String(started['sessionUrl']), { headers: { cookie } })).json()) as {
    accessToken: string
    user: { id: string; email: string }
  }
  const done = await native({
    ...attempt,
    sessionToken,
    accessToken: session.accessToken,
    providerAccountId: session.user.id,
    providerAccountEmail: session.user.email,
  })
  assert.equal([done.status, done.body['status']], [200, 'connected'])
  connectionId = String(done.body['connectionId'])
  assert.is((await event('connection.created')).payload['connectionId'], connectionId)
  assert.is((await event('data.imported')).payload['inserted'], 2)
  const spent = await native({ ...attempt, sessionToken, accessToken: session.accessToken })
  assert.equal([spent.status, spent.body['error']], [403, 'Invalid or expired capture nonce'])
})

api('an account export is ingested into the connection, and tells what it changed', async () => {
  const { conversations } = await control<{ conversations: Record<string, unknown>[] }>({
    action: 'export',
    account: EMAIL,
  })
  const [first, second] = conversations
  const added = { ...first, id: 'from-export', conversation_id: 'from-export', title: 'Only in the export' }
  const file = Buffer.from(
    JSON.stringify([added, { ...second, title: 'Renamed', update_time: Date.now() / 1_000 }, first]),
  )
  const { inserted, updated, unchanged, total } = await client().ingestExport({
    connectionId,
    file,
    contentType: 'application/json',
  })
  assert.equal({ inserted, updated, unchanged, total }, { inserted: 1, updated: 1, unchanged: 1, total: 3 })
  const told = await until('the second import', () => receiver.named('data.imported')[1])
  assert.equal([told.payload['inserted'], told.payload['updated'], told.payload['total']], [1, 1, 3])
  const titles: (string | null)[] = []
  for await (const { title } of client().eachConversation(connectionId)) titles.push(title)
  assert.is(titles.length, 3)
  assert.ok(titles.includes('Only in the export') && titles.includes('Renamed'))
})

api('a purge of the user deletes everything; the connection takes no export any more', async () => {
  const purged = await client().purge({ userRef: USER })
  assert.equal([purged.connectionsRevoked, purged.conversationsDeleted], [1, 3])
  const deleted = await event('data.deleted')
  assert.equal(deleted.payload['connectionIds'], [connectionId])
  const { connected, connections } = await client().connections(USER)
  assert.equal([connected, connections[0]?.status, connections[0]?.conversationCount], [false, 'revoked', 0])
  const refused = await client()
    .ingestExport({ connectionId, file: Buffer.from('[]'), contentType: 'application/json' })
    .catch((error: Error) => error.message)
  assert.is(refused, 'Connection is revoked')
  const again = await client().purge({ userRef: USER })
  assert.equal([again.connectionsRevoked, again.conversationsDeleted], [0, 0])
})

api.run()
