import { randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Commands, userTarget } from '../../../schemas/command/command.ts'
import { type Connection, Connections } from '../../../schemas/connection/connection.ts'
import type { PurgeAnswer } from '../../../wire/purge.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { finishAs, seedConnection } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

const purge = (body: unknown, key = world.one.apiKey) =>
  world.ask<PurgeAnswer & { error?: string }>('/api/purge', { method: 'POST', key, body })

const open = (target: string) => Commands.find({ target, kind: 'purge', state: 'waiting' }).lean()
const revoke = ({ _id }: Connection) => Connections.updateOne({ _id }, { $set: { status: 'revoked' } })
const counts = (connectionsRevoked: number, conversationsDeleted: number) => ({
  connectionsRevoked,
  conversationsDeleted,
  deletedAt: '2026-01-01T00:00:00.000Z',
})

test('tells what is wrong with a request', async () => {
  const connection = await seedConnection({ appId: 'app-one', userRef: 'kept' })
  const foreign = await seedConnection({ appId: 'app-two', userRef: 'foreign' })
  const appId = 'app-one'
  const id = connection._id
  const cases: [unknown, number, string][] = [
    [undefined, 400, 'Invalid JSON body'],
    [{}, 400, 'Missing appId'],
    ['{', 400, 'Invalid JSON body'],
    ['null', 400, 'Invalid JSON body'],
    ['"x"', 400, 'Invalid JSON body'],
    ['[]', 400, 'Invalid JSON body'],
    ['{"a":"\\ud800"', 400, 'Invalid JSON body'],
    [`{"__proto__":{"appId":"app-one"},"userRef":"kept"}`, 400, 'Invalid JSON body'],
    [`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, 400, 'Invalid JSON body'],
    [new Uint8Array([0x7b, 0xff, 0x7d]), 400, 'Invalid JSON body'],
    [`{"a":"${'x'.repeat(200_000)}"}`, 413, 'Request body is larger than 102400 bytes'],
    [{ userRef: 'kept' }, 400, 'Missing appId'],
    [{ appId, more: 1 }, 400, 'Missing userRef or connectionId'],
    [{ appId, userRef: '' }, 400, 'Missing userRef or connectionId'],
    [{ appId, userRef: 'kept', connectionId: id }, 400, 'Only one of userRef and connectionId is allowed'],
    [{ appId, userRef: ['kept'] }, 400, 'Invalid userRef parameter: must be given once'],
    [{ appId, userRef: { $ne: '' } }, 400, 'Invalid userRef parameter: must be a string'],
    [{ appId: { $ne: '' }, userRef: 'kept' }, 400, 'Invalid appId parameter: must be a string'],
    [{ appId, userRef: 'a\0' }, 400, 'Invalid userRef parameter: is no valid text'],
    [{ appId, connectionId: 'x' }, 400, 'Invalid connectionId parameter: must be a UUID'],
    [{ appId, connectionId: 7 }, 400, 'Invalid connectionId parameter: must be a string'],
    [{ appId: 'app-two', userRef: 'foreign' }, 403, 'appId does not match the API key'],
    [{ appId: 'unknown', userRef: 'foreign' }, 403, 'appId does not match the API key'],
    [{ appId, userRef: 'foreign' }, 404, 'User not found'],
    [{ appId, userRef: 'nobody' }, 404, 'User not found'],
    [{ appId, connectionId: foreign._id }, 404, 'Connection not found'],
    [{ appId, connectionId: randomUUID() }, 404, 'Connection not found'],
  ]
  for (const [body, status, error] of cases) {
    const answer = await purge(body)
    assert.equal([answer.status, answer.body], [status, { error }], JSON.stringify(body)?.slice(0, 80))
  }
  assert.is((await world.ask('/api/purge', { method: 'POST', key: null, body: {} })).status, 401)
  assert.is(await Commands.countDocuments({ kind: 'purge' }), 0)
})

test('a body of another content type is read all the same', async () => {
  const body = JSON.stringify({ appId: 'app-one', userRef: 'nobody' })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-8']) {
    const answer = await world.ask('/api/purge', { method: 'POST', body, headers: { 'content-type': type } })
    assert.is(answer.status, 404)
  }
})

test('of parallel purges each waits for what is under way and is answered its counts, or comes first; a later one counts nothing', async () => {
  const connection = await seedConnection({ appId: 'app-one', userRef: 'shared' })
  const body = { appId: 'app-one', connectionId: connection._id }
  const first = purge(body)
  const [command] = await until('the first command', async () => {
    const commands = await open(connection._id)
    return commands.length > 0 ? commands : null
  })
  assert.equal(command?.args, { connectionId: connection._id, userRef: 'shared' })
  assert.is(command?.by.kind, 'api-key')
  const other = purge(body)
  const both = await until('the second command', async () => {
    const commands = await open(connection._id)
    return commands.length === 2 ? commands : null
  })
  await revoke(connection)
  const second = both.find(({ _id }) => _id !== command?._id)
  await finishAs<'purge'>(second?._id ?? '', counts(0, 0))
  await finishAs<'purge'>(command?._id ?? '', counts(1, 12))
  for (const { status, body: answer } of await Promise.all([first, other])) {
    assert.equal([status, answer], [200, { ok: true, ...counts(1, 12) }])
  }
  const again = purge(body)
  const third = await until('a third command', async () => (await open(connection._id))[0])
  await finishAs<'purge'>(third._id, counts(0, 0))
  assert.equal((await again).body, { ok: true, ...counts(0, 0) })
})

test('whoever asks once more while one waits for another is answered the counts of both', async () => {
  const connection = await seedConnection({ appId: 'app-one', userRef: 'thrice' })
  const body = { appId: 'app-one', connectionId: connection._id }
  const asked: ReturnType<typeof purge>[] = []
  const ids: string[] = []
  for (const count of [1, 2, 3]) {
    asked.push(purge(body))
    const commands = await until('another command', async () => {
      const found = await open(connection._id)
      return found.length === count ? found : null
    })
    ids.push(commands.find(({ _id }) => !ids.includes(_id))?._id ?? '')
  }
  await revoke(connection)
  const [first = '', ...others] = ids
  for (const id of others) await finishAs<'purge'>(id, counts(0, 0))
  await finishAs<'purge'>(first, counts(1, 12))
  for (const { status, body: answer } of await Promise.all(asked))
    assert.equal([status, answer], [200, { ok: true, ...counts(1, 12) }])
})

test('a connection that came while another deletion ran is deleted too', async () => {
  const first = await seedConnection({ appId: 'app-one', userRef: 'returning' })
  const target = userTarget(first.userId)
  const body = { appId: 'app-one', userRef: 'returning' }
  const one = purge(body)
  const command = await until('a command', async () => (await open(target))[0])
  const later = await seedConnection({ appId: 'app-one', userRef: 'returning' })
  const two = purge(body)
  const rest = await until('a command of its own', async () =>
    (await open(target)).find(({ _id }) => _id !== command._id),
  )
  await revoke(first)
  await finishAs<'purge'>(command._id, counts(1, 5))
  assert.equal((await one).body.connectionsRevoked, 1)
  await revoke(later)
  await finishAs<'purge'>(rest._id, counts(1, 2))
  const { connectionsRevoked, conversationsDeleted } = (await two).body
  assert.equal([connectionsRevoked, conversationsDeleted], [2, 7])
})

test('a purge that fails is told', async () => {
  const connection = await seedConnection({ appId: 'app-one', userRef: 'failing' })
  const asked = purge({ appId: 'app-one', connectionId: connection._id })
  const command = await until('a command', async () => (await open(connection._id))[0])
  const failure = { code: 'internal', message: 'Internal server error' }
  await Commands.updateOne({ _id: command._id }, { $set: { state: 'failed', failure } })
  assert.equal([(await asked).status, (await asked).body], [500, { error: 'Internal server error' }])
})

test.run()
