import { randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Conversations } from '../../../schemas/archive/conversation.ts'
import { Commands } from '../../../schemas/command/command.ts'
import { writeCommand } from '../../../schemas/command/commands.ts'
import { Connections } from '../../../schemas/connection/connection.ts'
import { type AskOptions, type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

test('another app’s ids are answered as unknown ones on every route', async () => {
  const connection = await seedConnection({ appId: 'app-one', userRef: 'mine' })
  await seedConversations({ archiveId: connection.archiveId ?? '', count: 3 })
  const args = { connectionId: connection._id, fileId: randomUUID() }
  const by = { kind: 'api-key', id: 'x' } as const
  const now = new Date()
  const target = connection._id
  const ingestId = await writeCommand({ kind: 'ingest', appId: 'app-one', target, by, args, now })
  const post = (body: unknown): AskOptions => ({ method: 'POST', body })
  const routes: ((ids: { connectionId: string; userRef: string; ingestId: string }) => [string, AskOptions])[] = [
    ({ userRef }) => [`/api/connections?userRef=${userRef}`, {}],
    ({ userRef }) => [`/api/conversations?userRef=${userRef}`, {}],
    ({ connectionId }) => [`/api/conversations?connectionId=${connectionId}`, {}],
    ({ connectionId }) => ['/api/purge', post({ appId: 'app-two', connectionId })],
    ({ userRef }) => ['/api/purge', post({ appId: 'app-two', userRef })],
    ({ connectionId }) => [`/api/ingest-export?connectionId=${connectionId}`, post('[]')],
    ({ userRef }) => [`/api/ingest-export?userRef=${userRef}`, post('[]')],
    ({ ingestId: id }) => [`/api/ingest-export/${id}`, {}],
  ]
  const mine = { connectionId: connection._id, userRef: 'mine', ingestId }
  const unknown = { connectionId: randomUUID(), userRef: 'nobody', ingestId: randomUUID() }
  for (const route of routes) {
    const [path, options] = route(mine)
    const [otherPath, otherOptions] = route(unknown)
    const { apiKey: key } = world.two
    const foreign = await world.ask(path, { ...options, key })
    const none = await world.ask(otherPath, { ...otherOptions, key })
    assert.is(foreign.status, 404, path)
    assert.equal([foreign.status, foreign.body], [none.status, none.body], path)
  }
  assert.is(await Conversations.countDocuments({ archiveId: connection.archiveId ?? '' }), 3)
  assert.is((await Connections.findById(connection._id).lean())?.status, 'active')
  assert.is(await Commands.countDocuments({ kind: 'purge' }), 0)
})

test.run()
