import { createServer, request as forward, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ATTACHMENT_BYTES } from '../../../actors/archive/attachments.ts'
import { Attachments } from '../../../schemas/archive/attachment.ts'
import { connectedDatabase } from '../../../schemas/database.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'
import { readAttachmentBytes } from '../../support/stored-file.ts'
import { until } from '../../support/until.ts'
import { complete, connected, payloadOf, storedOf, syncAgain } from './support.ts'

const PIECE = Buffer.alloc(1024 * 1024)
/** More than the sockets between could take unread, beyond what the service reads. */
const HUGE_PIECES = 4 * (ATTACHMENT_BYTES / PIECE.length)
const TIME = 1_760_000_000

const files = suite('files of an account')
let world: ActorWorld
/** What was asked for, in order. */
const asked: string[] = []
/** How many downloads ended before the whole file was sent. */
let cutShort = 0

/** The site, which has some files more. */
const site: RequestListener = (request, response) => {
  const { pathname } = new URL(request.url ?? '', 'http://x')
  const [, place, id = ''] = /^\/(?:backend-api\/)?(files)\/(own-[^/]+)/.exec(pathname) ?? []
  if (place) asked.push(pathname)
  if (!place) {
    const { method = 'GET', headers } = request
    const passed = forward(new URL(request.url ?? '', world.site.url), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    request.pipe(passed)
  } else if (pathname.endsWith('/download')) {
    response.end(JSON.stringify({ download_url: `http://${request.headers.host}/files/${id}` }))
  } else if (id === 'own-huge') {
    const write = (left: number): unknown =>
      left === 0 ? response.end() : response.write(PIECE, () => write(left - 1))
    response.on('close', () => {
      if (!response.writableFinished) cutShort += 1
    })
    write(HUGE_PIECES)
  } else if (id === 'own-gone') response.writeHead(404).end()
  else response.writeHead(200, { 'content-type': 'image/png' }).end(id)
}
const server = createServer(site)

files.before(async () => {
  world = await startActorWorld()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { profiles } = world.runtime
  for (const profile of profiles)
    profile.apiBaseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/backend-api`
})
files.after(async () => {
  await world.stop()
  server.closeAllConnections()
  server.close()
})

const picture = (fileId: string) => ({
  content_type: 'image_asset_pointer',
  asset_pointer: `file-service://${fileId}`,
  size_bytes: 104_857_600,
  width: 640,
  height: 480,
})

/** Puts a conversation of one message with these files in the account. */
const put = (account: string, id: string, fileIds: string[], updateTime = TIME) => {
  const message = {
    id: 'm',
    author: { role: 'user', name: null },
    create_time: TIME,
    content: { content_type: 'multimodal_text', parts: [...fileIds.map(picture), `At ${updateTime}`] },
    status: 'finished_successfully',
    end_turn: null,
    metadata: { attachments: fileIds.map((fileId) => ({ id: fileId, name: `${fileId}.png`, size: 104_857_600 })) },
  }
  const mapping = { m: { id: 'm', parent: null, children: [], message } }
  const times = { create_time: TIME, update_time: updateTime }
  return world.site.control({
    action: 'put',
    account,
    id,
    raw: { id, title: id, ...times, current_node: 'm', mapping },
  })
}

const askedFor = (fileId: string) => asked.filter((path) => path.includes(fileId))

/** What GridFS holds under an attachment's id, whole or interrupted. */
async function piecesOf(id: string): Promise<number> {
  const bucket = (name: string) => connectedDatabase().collection(`attachment_files.${name}`)
  const whole = await bucket('files').countDocuments({ _id: id as never })
  return whole + (await bucket('chunks').countDocuments({ files_id: id }))
}

files('one beyond the limit is noted, nothing of it is kept, and no later sync asks for it', async () => {
  const account = 'too-large@example.test'
  await put(account, 'with-files', ['own-huge', 'own-small'])
  const id = await connected(world, { userRef: 'too large', email: account })
  const connection = await complete(id)
  const { archiveId = '' } = connection
  const noted = async (fileId: string) => Attachments.findOne({ archiveId, fileId }).lean()
  const huge = await noted('own-huge')
  assert.equal([huge?.state, huge?.sizeBytes], ['too-large', undefined])
  assert.is(await piecesOf(`${archiveId}|own-huge`), 0)
  assert.is((await noted('own-small'))?.state, 'stored')
  assert.ok((await piecesOf(`${archiveId}|own-small`)) >= 2, 'what is stored is found where the other was looked for')
  await until('the download to be cut short', () => cutShort === 1)

  const stored = (await storedOf(connection)).find(({ externalId }) => externalId === 'with-files')
  if (!stored) throw new Error('not stored')
  const { messages } = await payloadOf(stored)
  const metadata = (fileId: string) => {
    const { content_type: type, ...rest } = picture(fileId)
    return { type, ...rest, name: `${fileId}.png` }
  }
  assert.equal(
    messages.map((message) => (message as { attachments: unknown }).attachments),
    [[metadata('own-huge'), metadata('own-small')]],
  )

  await put(account, 'with-files', ['own-huge', 'own-small'], TIME + 60)
  assert.match((await syncAgain(id)).sync.outcome ?? '', /^complete.*1 updated/)
  assert.equal(askedFor('own-huge'), ['/backend-api/files/own-huge/download', '/files/own-huge'])
  assert.is((await noted('own-huge'))?.state, 'too-large')
})

files('one that is gone is noted, whichever call says so, and no later sync asks for it', async () => {
  const account = 'gone@example.test'
  await put(account, 'with-files', ['file_gone', 'own-gone'])
  const id = await connected(world, { userRef: 'gone', email: account })
  const { archiveId = '' } = await complete(id)
  const states = async () => {
    const found = await Attachments.find({ archiveId }).sort({ fileId: 1 }).lean()
    return found.map(({ fileId, state }) => `${fileId} ${state}`)
  }
  const downloads = async () => {
    const { requests } = await world.site.control<{ requests: { path: string }[] }>({ action: 'log', account })
    return requests.filter(({ path }) => path.includes('/files/')).map(({ path }) => path)
  }
  assert.equal(await states(), ['file_gone missing', 'own-gone missing'])
  await put(account, 'with-files', ['file_gone', 'own-gone'], TIME + 60)
  assert.match((await syncAgain(id)).sync.outcome ?? '', /^complete.*1 updated/)
  assert.equal(await states(), ['file_gone missing', 'own-gone missing'])
  assert.equal(await downloads(), ['/backend-api/files/file_gone/download'])
  assert.equal(askedFor('own-gone'), ['/backend-api/files/own-gone/download', '/files/own-gone'])
})

files('one that several conversations carry is fetched and stored once', async () => {
  const account = 'shared@example.test'
  for (const id of ['one', 'two']) await put(account, id, ['own-shared'])
  const id = await connected(world, { userRef: 'shared', email: account })
  const { archiveId = '' } = await complete(id)
  await put(account, 'three', ['own-shared'], TIME + 60)
  assert.match((await syncAgain(id)).sync.outcome ?? '', /^complete.*1 inserted/)
  assert.equal(askedFor('own-shared'), ['/backend-api/files/own-shared/download', '/files/own-shared'])
  const found = await Attachments.find({ archiveId, fileId: 'own-shared' }).lean()
  assert.equal(
    found.map(({ _id, state, sizeBytes }) => [_id, state, sizeBytes]),
    [[`${archiveId}|own-shared`, 'stored', 'own-shared'.length]],
  )
  assert.ok((await readAttachmentBytes({ id: `${archiveId}|own-shared` })).length > 0)
})

files.run()
