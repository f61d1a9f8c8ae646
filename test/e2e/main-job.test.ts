import { MongoClient } from 'mongodb'
import type { Browser, Page } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newVisitor } from '../http/portal/visitor.ts'
import { branchesMessages } from '../provider/branches-expectation.ts'
import { type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser, signIn } from '../support/visitor.ts'

const job = suite('the main job, from the partner’s page to the purge')

interface PartnerEvent {
  deliveryId: string
  event: string
  payload: Record<string, unknown>
  /** What the partner's `verifyWebhook` said of the signature. */
  verification: string
  userRef: string | null
}
interface ApiConnection {
  id: string
  status: string
  conversationCount: number
  accountId: string
  provider: string
}

let service: Service
let browser: Browser
job.before(async () => {
  service = await startService({ env: { TIME_SCALE: '60' } })
  browser = await openVisitorBrowser()
})
job.after(async () => {
  await browser?.close()
  await service?.stop()
})

const api = async <T>(path: string, init: RequestInit = {}): Promise<{ status: number; body: T }> => {
  const headers = { authorization: `Bearer ${service.app.apiKey}`, 'content-type': 'application/json' }
  const answer = await fetch(`${service.baseUrl}${path}`, { ...init, headers })
  return { status: answer.status, body: (await answer.json()) as T }
}
const connections = async (userRef: string): Promise<ApiConnection[]> =>
  (await api<{ connections: ApiConnection[] }>(`/api/connections?userRef=${userRef}`)).body.connections ?? []
const received = async (userRef: string): Promise<PartnerEvent[]> => {
  const answer = await fetch(`${service.partner.url}/events`)
  const { events } = (await answer.json()) as { events: PartnerEvent[] }
  return events.filter((entry) => entry.userRef === userRef)
}
const event = (userRef: string, name: string) =>
  until(`${name} at the partner`, async () => (await received(userRef)).find((entry) => entry.event === name))

/** As a person does: the partner's page, its Connect button, then the hosted page in a window beside it, which ends by itself. */
async function startFromPartner(
  userRef: string,
): Promise<{ page: Page; ended: Promise<unknown>; close: () => Promise<void> }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const partner = await context.newPage()
  await partner.goto(`${service.partner.url}/?userRef=${userRef}`)
  const opened = context.waitForEvent('page')
  await partner.getByRole('button', { name: 'Connect', exact: true }).click()
  const page = await opened
  return { page, ended: page.waitForEvent('close'), close: () => context.close() }
}

job('a visitor signs in with password, code and consent, and the connection appears with its history', async () => {
  const userRef = 'visitor-verify'
  const { page, ended, close } = await startFromPartner(userRef)
  await page.waitForURL(`${service.baseUrl}/start`)
  const hosted = hostedPage(page)
  await signIn(hosted, { email: 'verify@example.test' })
  await hosted.screenChanged()
  assert.equal(await connections(userRef), [], 'nothing is connected while the code is missing')
  await hosted.type('123456')
  await hosted.press('Enter')
  await hosted.screenChanged()
  await hosted.press('Enter')
  await ended
  await close()

  const [connection] = await until('the first sync', async () => {
    const found = await connections(userRef)
    return found[0]?.conversationCount === 4 ? found : null
  })
  assert.is(connection?.status, 'active')
  const started = await event(userRef, 'connect.started')
  assert.equal(started.payload['scopes'], ['conversations:read'])
  assert.is((await event(userRef, 'connection.created')).payload['connectionId'], connection?.id)
  assert.is((await event(userRef, 'data.imported')).payload['inserted'], 4)
  for (const { verification } of await received(userRef)) assert.is(verification, 'valid')
})

job('conversations are right to the last field, and a purge by connection leaves nothing', async () => {
  const userRef = 'visitor-branches'
  const { page, ended, close } = await startFromPartner(userRef)
  await signIn(hostedPage(page), { email: 'branches@example.test' })
  await ended
  await close()
  const imported = await event(userRef, 'data.imported')
  const connectionId = String(imported.payload['connectionId'])

  const { body } = await api<{
    conversations: { title: string; payload: { title: string; messages: unknown[] } }[]
    total: number
  }>(`/api/conversations?connectionId=${connectionId}`)
  assert.is(body.total, 4)
  assert.equal(
    Object.fromEntries(body.conversations.map(({ title, payload }) => [title, payload.messages])),
    branchesMessages,
  )

  const database = new MongoClient(service.databaseUrl)
  const stored = async (): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {}
    for (const name of [
      'conversations',
      'conversation_bodies',
      'attachments',
      'attachment_files.files',
      'attachment_files.chunks',
      'browser_profiles',
    ])
      counts[name] = await database.db().collection(name).countDocuments()
    return counts
  }
  try {
    const before = await stored()
    const { body: purged } = await api<Record<string, unknown>>('/api/purge', {
      method: 'POST',
      body: JSON.stringify({ appId: service.app.appId, connectionId }),
    })
    assert.equal([purged['ok'], purged['connectionsRevoked'], purged['conversationsDeleted']], [true, 1, 4])
    const listing = await api<{ conversations: unknown[]; total: number }>(
      `/api/conversations?connectionId=${connectionId}`,
    )
    assert.equal([listing.body.conversations, listing.body.total], [[], 0])
    const [connection] = await connections(userRef)
    assert.equal([connection?.status, connection?.conversationCount], ['revoked', 0])
    const deleted = await event(userRef, 'connection.deleted')
    assert.is(deleted.payload['conversationsDeleted'], 4)

    const after = await stored()
    for (const name of ['conversations', 'conversation_bodies']) assert.is(after[name], (before[name] ?? 0) - 4)
    assert.is(after['browser_profiles'], (before['browser_profiles'] ?? 0) - 1)
    assert.equal([after['attachments'], after['attachment_files.files'], after['attachment_files.chunks']], [0, 0, 0])
    const document = await database
      .db()
      .collection('connections')
      .findOne({ _id: connectionId as never })
    for (const field of ['credential', 'key', 'archiveKey', 'archiveId']) assert.is(document?.[field], undefined, field)
    const commands = await database.db().collection('commands').find({ target: connectionId }).toArray()
    for (const { args } of commands)
      for (const field of ['credential', 'key', 'profile']) assert.is(args[field], undefined, `${field} in a command`)
  } finally {
    await database.close()
  }
})

job('an operator’s test event arrives at the partner, signed', async () => {
  const answer = await fetch(`${service.operator.url}/apps/${service.app.appId}/test-event`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.operator.key}` },
  })
  const { deliveryId } = (await answer.json()) as { deliveryId: string }
  const [arrived] = await until('the test event', async () => {
    const found = (await received('test')).filter((entry) => entry.deliveryId === deliveryId)
    return found.length > 0 ? found : null
  })
  assert.equal([arrived?.event, arrived?.verification], ['test.event', 'valid'])
})

job('the printed link signs the demo app’s owner in to the portal, once', async () => {
  const { signInUrl, url } = service.portal
  const owner = newVisitor(service.baseUrl)
  const page = await owner.signIn(signInUrl)
  assert.match(page.text, '<h1>Overview</h1>')
  assert.match((await owner.get(`${url}/apps/${service.app.appId}/settings`)).text, '>Rotate app secret</button>')
  assert.is((await newVisitor(service.baseUrl).signIn(signInUrl)).status, 403)
})

job.run()
