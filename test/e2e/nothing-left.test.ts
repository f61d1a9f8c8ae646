import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Connection } from '../../schemas/connection/connection.ts'
import { createClient, signLink } from '../../sdk/src/index.ts'
import { captureSession, nativeApp } from '../support/native-app.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser, signIn } from '../support/visitor.ts'
import { placesOf } from './nothing-left/places.ts'

const gone = suite('nothing is left of a user whose data is deleted')

const USER = 'user-to-be-forgotten'
const HOSTED = 'ada+forgotten@example.test'
const NATIVE = 'branches+forgotten@example.test'
const DEVICE = {
  platform: 'Pocketphone platform',
  osVersion: 'Pocketphone 9.1',
  model: 'Pocketphone model',
  appVersion: 'Pocketphone app',
}
/** Larger than what stays in one document, also when it is compressed. */
const LARGE_TEXT = `A large secret: ${randomBytes(2 * 1024 * 1024).toString('hex')}`
/** Shorter texts are found in anything. */
const LONG_ENOUGH = 16

let service: Service
let receiver: Receiver
let browser: Browser
let database: MongoClient
let temporary = ''
gone.before(async () => {
  receiver = await startReceiver()
  // A short path: the farm's browsers keep a socket below it.
  temporary = await mkdtemp('/tmp/nl-')
  service = await startService({ env: { TIME_SCALE: '60', WEBHOOK_URL: receiver.url, TMPDIR: temporary } })
  database = new MongoClient(service.databaseUrl)
  browser = await openVisitorBrowser()
})
gone.after(async () => {
  await browser?.close()
  await database?.close()
  await service?.stop()
  await receiver?.stop()
  await rm(temporary, { recursive: true, force: true })
})

const client = () => createClient({ baseUrl: service.baseUrl, apiKey: service.app.apiKey, appId: service.app.appId })
const collection = (name: string) => database.db().collection<{ _id: string } & Record<string, unknown>>(name)
const control = async <T>(order: object): Promise<T> => {
  const answer = await fetch(`${service.provider.site}/__control`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  })
  return (await answer.json()) as T
}

async function connectNatively(email: string): Promise<string> {
  const app = nativeApp({ baseUrl: service.baseUrl })
  const { token } = signLink({ ...service.app, userRef: USER, baseUrl: service.baseUrl })
  const { body: started } = await app.start({ token, device: DEVICE })
  const { body } = await app.capture(started, await captureSession({ site: service.provider.site, email }))
  if (body.status !== 'connected') throw new Error(JSON.stringify(body))
  return body.connectionId
}

async function connectByPage(email: string): Promise<void> {
  const { url } = signLink({ ...service.app, userRef: USER, baseUrl: service.baseUrl })
  const page = await browser.newPage()
  await page.goto(url)
  const hosted = hostedPage(page)
  await signIn(hosted, { email })
  await hosted.reaches('connected')
  await page.close()
}

type Raw = { title: string | null; id: string }
const exportOf = async (account: string) =>
  (await control<{ conversations: Raw[] }>({ action: 'export', account })).conversations

/** Titles, texts and ids of conversations as the provider has them. */
function wordsOf(value: unknown, words = new Set<string>()): Set<string> {
  if (typeof value === 'string' && value.length >= LONG_ENOUGH) words.add(value.slice(0, 200))
  if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) wordsOf(each, words)
  return words
}

/** What is known of the user while it is connected, and has to be forgotten. */
async function secretsOf(conversations: Raw[]): Promise<Map<string, string>> {
  const secrets = new Map<string, string>()
  const add = (name: string, ...values: (string | Buffer | undefined)[]) => {
    for (const value of values) {
      if (value === undefined) continue
      secrets.set(typeof value === 'string' ? value : value.toString('latin1'), name)
      if (typeof value !== 'string') secrets.set(value.toString('base64'), name)
    }
  }
  add('e-mail', HOSTED, NATIVE)
  add('account id at the provider', 'user-ada+forgotten', 'user-branches+forgotten')
  add('device', ...Object.values(DEVICE))
  // The provider's own vocabulary is nobody's secret.
  const vocabulary = new Set([
    'image_asset_pointer',
    'multimodal_text',
    'finished_successfully',
    'execution_output',
    'application/pdf',
  ])
  add('conversation', ...[...wordsOf(conversations)].filter((word) => !vocabulary.has(word)))
  const ids = await collection('conversations').find().project<{ _id: string }>({ _id: 1 }).toArray()
  add('conversation id', ...ids.map(({ _id }) => _id))
  const connections = database.db().collection<Partial<Connection> & { _id: string }>('connections')
  for (const { emailHash, key, archiveKey, credential } of await connections
    .find({}, { promoteBuffers: true })
    .toArray()) {
    add('e-mail hash', emailHash)
    add('key', archiveKey, ...Object.values(key ?? {}).filter((value) => Buffer.isBuffer(value)))
    add('credential', credential)
  }
  for (const { sealed } of await collection('browser_profiles').find({}, { promoteBuffers: true }).toArray())
    add('browser profile', sealed as Buffer)
  add('archive', ...(await collection('conversations').distinct('archiveId')).map(String))
  add('userRef', USER)
  return secrets
}

/** What may stay, and why. */
const MAY_STAY: Record<string, [place: string, why: string][]> = {
  userRef: [
    ['users.userRef', 'the user itself stays, so that whoever asks is told that nothing is connected'],
    ['connections.userRef', 'a revoked connection stays listed'],
    ['commands.args.userRef', 'what was asked for stays visible for 90 days'],
    ['deliveries.body', 'an event is kept for 30 days, so that it can be sent again'],
  ],
  archive: [
    ['connections.purge.archiveId', 'a random id, without which what is left could not be looked for'],
    ['commands.args.archiveIds.*', 'the same: the sweeps look for it up to a day later'],
  ],
}

const EMPTY = [
  'conversations',
  'conversation_bodies',
  'conversation_parts',
  'attachments',
  'attachment_files.files',
  'attachment_files.chunks',
  'exports.files',
  'exports.chunks',
  'browser_profiles',
  'captures',
  'leases',
]

gone('whatever it connected, synced, ingested and reconnected', async () => {
  await control({
    action: 'add',
    account: NATIVE,
    title: 'A large conversation',
    messages: [{ role: 'user', text: LARGE_TEXT }],
  })
  await connectByPage(HOSTED)
  const first = await connectNatively(NATIVE)
  const all = [...(await exportOf(HOSTED)), ...(await exportOf(NATIVE))]
  const stored = (more = 0) =>
    until(
      'every conversation and file',
      async () =>
        (await collection('conversations').countDocuments()) === all.length + more &&
        (await collection('attachments').countDocuments({ state: 'stored' })) > 0 &&
        (await collection('attachments').countDocuments({ state: 'waiting' })) === 0,
      { giveUpMs: 90_000 },
    )
  await stored()
  const exported = {
    ...all[0],
    id: 'only-in-the-export',
    conversation_id: 'only-in-the-export',
    title: 'A title only in the export',
  } as Raw
  const ingested = await client().ingestExport({
    connectionId: first,
    file: Buffer.from(JSON.stringify([exported])),
    contentType: 'application/json',
  })
  assert.is(ingested.inserted, 1)
  await connectNatively(NATIVE)
  await connectByPage(HOSTED)
  await stored(1)
  assert.ok((await collection('conversation_parts').countDocuments({ kind: 'raw' })) > 0)
  assert.ok((await collection('conversation_parts').countDocuments({ kind: 'payload' })) > 0)
  assert.ok((await collection('leases').countDocuments()) > 0)

  const secrets = await secretsOf([...all, exported])
  const purged = await client().purge({ userRef: USER })
  assert.equal([purged.connectionsRevoked, purged.conversationsDeleted], [2, all.length + 1])
  await until('the event', () => receiver.named('data.deleted')[0])

  for (const name of EMPTY) assert.is(await collection(name).countDocuments(), 0, name)
  const left: string[] = []
  for await (const { place, name } of placesOf({ database: database.db(), secrets })) {
    const excused = MAY_STAY[name]?.some(([where]) => where === place) ?? false
    if (!excused) left.push(`${name} in ${place}`)
  }
  assert.equal([...new Set(left)], [])
  for (const { place, name } of await placesInFiles(secrets)) assert.unreachable(`${name} in ${place}`)
  for (const [secret, name] of secrets)
    if (name !== 'archive' && name !== 'userRef') assert.not.ok(service.log().includes(secret), `${name} in a log`)
})

/** Where files that the service has written have any of it. */
async function placesInFiles(secrets: Map<string, string>): Promise<{ place: string; name: string }[]> {
  const found: { place: string; name: string }[] = []
  for (const folder of [temporary, service.dataDir])
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      // The program itself, compiled: the texts of the sandbox provider's accounts stand in it.
      const isProgram = /tsx-\d+/.test(entry.parentPath) || entry.parentPath.startsWith(join(service.dataDir, 'build'))
      if (!entry.isFile() || isProgram) continue
      const place = join(entry.parentPath, entry.name)
      const bytes = await readFile(place, 'latin1').catch(() => '')
      for (const [secret, name] of secrets) if (bytes.includes(secret)) found.push({ place, name })
    }
  return found
}

gone.run()
