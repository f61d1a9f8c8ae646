import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import mongoose from 'mongoose'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { deleteStrayUploads, storeExportUpload, withExportFile } from '../../../schemas/archive/export-upload.ts'
import { type Command, Commands } from '../../../schemas/command/command.ts'
import { writeCommand } from '../../../schemas/command/commands.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { finishAs, seedConnection } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const RESULT = { inserted: 2, updated: 1, unchanged: 3, total: 6 }
let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

const uploads = () => mongoose.connection.collection('exports.files').countDocuments()
const chunks = () => mongoose.connection.collection('exports.chunks').countDocuments()

/** Plays the connection's actor: reads the upload back and ends the command. */
async function ingested(connectionId: string, act?: (command: Command<'ingest'>) => Promise<unknown>): Promise<string> {
  const command = await until('an ingest command', () =>
    Commands.findOne({ target: connectionId, kind: 'ingest', state: 'waiting' }).lean<Command<'ingest'>>(),
  )
  const { fileId } = command.args
  const text = await withExportFile({ fileId, keyring: world.runtime.keyring }, (file) => file.readFile('utf8'))
  if (act) await act(command)
  else await finishAs<'ingest'>(command._id, RESULT)
  return text
}

const ingest = (query: string, body: unknown, headers: Record<string, string> = {}) =>
  world.ask<Record<string, unknown>>(`/api/ingest-export${query}`, { method: 'POST', body, headers })

const EXPORT = JSON.stringify([{ id: 'c1', mapping: {} }, { filler: 'ä'.repeat(300_000) }])

test('a process that is killed while it reads an upload leaves nothing that can be read', async () => {
  const stream = Readable.from([Buffer.from('a secret')])
  const bounds = { maxBytes: 1_000, limit: '1 kB' }
  const { keyring } = world.runtime
  const { fileId } = await storeExportUpload({ connectionId: randomUUID(), stream, ...bounds, keyring })
  const folder = await mkdtemp(join(tmpdir(), 'uploads-'))
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  try {
    await withExportFile({ fileId, keyring }, async (file) => {
      assert.is(await file.readFile('utf8'), 'a secret')
      assert.equal(await readdir(folder), [])
    })
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    await rm(folder, { recursive: true })
  }
})

test('a raw body is taken in, encrypted, and its counts answered', async () => {
  const { _id: connectionId } = await seedConnection({ appId: 'app-one', userRef: 'raw' })
  for (const query of [`?connectionId=${connectionId}`, '?userRef=raw']) {
    const asked = ingest(query, EXPORT, { 'content-type': 'application/json' })
    const text = await ingested(connectionId)
    assert.ok(text === EXPORT)
    const { status, body } = await asked
    const { ingestId, ...rest } = body
    assert.equal([status, rest], [200, { ok: true, connectionId, ...RESULT }])
    assert.match(String(ingestId), /^[0-9a-f-]{36}$/)
  }
  const stored = await mongoose.connection.collection('exports.chunks').find().toArray()
  assert.not.ok(
    Buffer.concat(stored.map(({ ['data']: data }) => Buffer.from(Buffer.isBuffer(data) ? data : data.buffer))).includes(
      'filler',
    ),
  )
})

test('a multipart form is taken in, its target in the form or in the query', async () => {
  const { _id: connectionId } = await seedConnection({ appId: 'app-one', userRef: 'form' })
  for (const inForm of [true, false]) {
    const form = new FormData()
    if (inForm) form.append('connectionId', connectionId)
    form.append('file', new Blob([EXPORT]), 'conversations.json')
    const asked = fetch(`${world.url}/api/ingest-export${inForm ? '' : `?connectionId=${connectionId}`}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.one.apiKey}` },
      body: form,
    })
    assert.ok((await ingested(connectionId)) === EXPORT)
    assert.is((await asked).status, 200)
  }
})

test('tells what is wrong with a request, and keeps nothing', async () => {
  const before = [await uploads(), await chunks(), await Commands.countDocuments()]
  const mine = await seedConnection({ appId: 'app-one', userRef: 'mine' })
  const revoked = await seedConnection({ appId: 'app-one', userRef: 'revoked', status: 'revoked' })
  const foreign = await seedConnection({ appId: 'app-two', userRef: 'foreign' })
  await seedConnection({ appId: 'app-one', userRef: 'several' })
  await seedConnection({ appId: 'app-one', userRef: 'several' })
  const boundary = { 'content-type': 'multipart/form-data; boundary=x' }
  const id = mine._id
  const cases: [string, unknown, Record<string, string>, number, string][] = [
    ['', '[]', {}, 400, 'Missing userRef or connectionId'],
    ['?connectionId=', '[]', {}, 400, 'Missing userRef or connectionId'],
    [`?connectionId=${id}&userRef=mine`, '[]', {}, 400, 'Only one of userRef and connectionId is allowed'],
    ['?connectionId=x', '[]', {}, 400, 'Invalid connectionId parameter: must be a UUID'],
    ['?userRef=a&userRef=b', '[]', {}, 400, 'Invalid userRef parameter: must be given once'],
    ['?userRef=nobody', '[]', {}, 404, 'User not found'],
    [`?connectionId=${randomUUID()}`, '[]', {}, 404, 'Connection not found'],
    [`?connectionId=${foreign._id}`, '[]', {}, 404, 'Connection not found'],
    ['?userRef=foreign', '[]', {}, 404, 'User not found'],
    [`?connectionId=${revoked._id}`, '[]', {}, 409, 'Connection is revoked'],
    ['?userRef=revoked', '[]', {}, 409, 'Connection is revoked'],
    [
      '?userRef=several',
      '[]',
      {},
      400,
      'Invalid userRef parameter: the user has several connections; name one by connectionId',
    ],
    [`?connectionId=${id}`, '[]', { 'content-encoding': 'gzip' }, 415, 'Unsupported content type'],
    [
      `?connectionId=${id}`,
      'x',
      { 'content-type': 'multipart/form-data' },
      400,
      'Invalid body parameter: is no multipart form',
    ],
    [`?connectionId=${id}`, 'rubbish', boundary, 400, 'Invalid body parameter: is no multipart form'],
    [
      `?connectionId=${id}`,
      '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
      boundary,
      400,
      'Not a provider export: the form holds no file',
    ],
    [
      `?connectionId=${id}`,
      '--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\ncut off',
      boundary,
      400,
      'Invalid body parameter: is no multipart form',
    ],
  ]
  for (const [query, body, headers, status, error] of cases) {
    const answer = await ingest(query, body, headers)
    assert.equal([answer.status, answer.body], [status, { error }], `${query} ${body}`)
  }
  assert.is((await world.ask('/api/ingest-export', { method: 'POST', key: null, body: '[]' })).status, 401)
  assert.equal((await world.ask('/api/ingest-export')).headers.get('allow'), 'POST')
  assert.equal([await uploads(), await chunks(), await Commands.countDocuments()], before)
})

test('an upload that says it is too large is refused before it is read', async () => {
  const { _id } = await seedConnection({ appId: 'app-one', userRef: 'too-large' })
  const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const request = httpRequest(`${world.url}/api/ingest-export?connectionId=${_id}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.one.apiKey}`, 'content-length': 2 * 1024 ** 3 },
    })
    request.on('response', async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode, text })
      request.destroy()
    })
    request.on('error', reject)
    request.write('[')
  })
  assert.equal([answer.status, JSON.parse(answer.text)], [413, { error: 'Request body is larger than 1 GiB' }])
})

test('a client that goes away in the middle leaves nothing behind', async () => {
  const { _id } = await seedConnection({ appId: 'app-one', userRef: 'leaving' })
  const before = await uploads()
  for (const headers of [{}, { 'content-type': 'multipart/form-data; boundary=x' }]) {
    const request = httpRequest(`${world.url}/api/ingest-export?connectionId=${_id}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.one.apiKey}`, ...headers },
    })
    request.on('error', () => undefined)
    request.write('--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n')
    request.write('x'.repeat(1_000_000))
    await until('chunks', async () => (await chunks()) > 0)
    request.destroy()
    await until('nothing is left', async () => (await uploads()) === before)
  }
  assert.is(await Commands.countDocuments({ target: _id }), 0)
})

test('the reason of a failure is told', async () => {
  const { _id } = await seedConnection({ appId: 'app-one', userRef: 'wrong' })
  const asked = ingest(`?connectionId=${_id}`, '[]')
  await ingested(_id, (command) =>
    Commands.updateOne(
      { _id: command._id },
      {
        $set: { state: 'failed', failure: { code: 'no_export', message: 'Not a provider export: it is empty' } },
        $unset: { claimableAt: 1 },
      },
    ),
  )
  const { status, body } = await asked
  assert.equal([status, body], [400, { error: 'Not a provider export: it is empty' }])
})

test('an ingestion can be asked for by its id', async () => {
  const { _id } = await seedConnection({ appId: 'app-one', userRef: 'asked-for' })
  const asked = ingest(`?connectionId=${_id}`, '[]')
  let path = ''
  await ingested(_id, async (command) => {
    path = `/api/ingest-export/${command._id}`
    const running = await world.ask(path)
    assert.equal([running.status, running.body], [202, { ok: true, ingestId: command._id, state: 'running' }])
    await finishAs<'ingest'>(command._id, RESULT)
  })
  assert.equal((await world.ask(path)).body, (await asked).body)
  for (const [other, key] of [
    [path, world.two.apiKey],
    [`/api/ingest-export/${randomUUID()}`, world.one.apiKey],
    ['/api/ingest-export/x', world.one.apiKey],
  ]) {
    assert.is((await world.ask(other ?? '', { key: key ?? '' })).status, 404)
  }
})

test('uploads that nobody will ingest go after a while; those that wait for their ingestion stay', async () => {
  const { _id: connectionId } = await seedConnection({ appId: 'app-one', userRef: 'strays' })
  const store = () =>
    storeExportUpload({
      connectionId,
      stream: Readable.from([Buffer.from(EXPORT)]),
      maxBytes: 10_000_000,
      limit: '10 MB',
      keyring: world.runtime.keyring,
    })
  await store()
  const waiting = await store()
  const interrupted = await store()
  await mongoose.connection.collection<{ _id: string }>('exports.files').deleteOne({ _id: interrupted.fileId })
  await writeCommand({
    kind: 'ingest',
    appId: 'app-one',
    target: connectionId,
    by: { kind: 'api-key', id: 'test' },
    args: { connectionId, fileId: waiting.fileId },
    now: new Date(),
  })
  assert.is(await deleteStrayUploads({ before: new Date(Date.now() - 86_400_000) }), 0, 'young ones stay')
  // The other tests' uploads were ingested by nobody either.
  assert.ok((await deleteStrayUploads({ before: new Date(Date.now() + 60_000) })) >= 2)
  assert.equal(await mongoose.connection.collection('exports.chunks').distinct('files_id'), [waiting.fileId])
  assert.is(await uploads(), 1)
  assert.ok(await withExportFile({ fileId: waiting.fileId, keyring: world.runtime.keyring }, (file) => file.readFile()))
})

test.run()
