import { randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Commands } from '../../../schemas/command/command.ts'
import { Deliveries } from '../../../schemas/delivery/delivery.ts'
import { AuditEntries } from '../../../schemas/operations/audit.ts'
import type { Endpoint } from '../../../wire/endpoint.ts'
import { auditAnswer } from '../../../wire/ops.ts'
import { opsEndpoints } from '../../../wire/ops-endpoints.ts'
import { type AskOptions, type HttpWorld, OPERATOR_KEY, startHttpWorld } from '../../support/http.ts'
import { finishAs, seedConnection } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

interface Made {
  id: string
  key: string
}

const operate = <T = { error: string }>(method: string, path: string, options: AskOptions = {}) =>
  world.ask<T>(`/ops/${path}`, { key: OPERATOR_KEY, method, ...options })

/** What a write is refused with that nobody should wait for the end of. */
const refused = async (path: string, body: object): Promise<string> => {
  const asked = await operate('POST', path, { body })
  return `${asked.status} ${asked.body.error}`
}

test('a slip in what bounds a write is told, and nothing is done', async () => {
  const { _id: connectionId, userRef } = await seedConnection({ appId: 'app-one', userRef: 'slip' })
  const dropped = { event: 'test.event', body: '{}', state: 'dropped', fence: 0 } as const
  for (const appId of ['app-one', 'app-two'])
    await Deliveries.create({ _id: randomUUID(), appId, ...dropped, createdAt: new Date(), endedAt: new Date() })
  const target = { appId: 'app-one', connectionId }
  const since = new Date(0).toISOString()
  const unknown = (name: string) => `400 Invalid ${name} parameter: is not known`
  assert.is(await refused('purge', { ...target, dryRun: true }), unknown('dryRun'))
  assert.is(await refused('purge?dryrun=true', target), unknown('dryrun'))
  assert.is(await refused('purge?dryRun=true&dry_run=true', target), unknown('dry_run'))
  // What was meant is one connection.
  assert.is(await refused('purge', { appId: 'app-one', userRef, connectionID: connectionId }), unknown('connectionID'))
  assert.is(await refused(`deliveries/retry?since=${since}&app=app-one`, {}), unknown('app'))
  assert.is(await refused('deliveries/retry', { since, appID: 'app-one' }), unknown('appID'))
  assert.is(await refused(`deliveries/retry?since=${since}&dryRun=true`, {}), unknown('dryRun'))
  assert.is(await refused(`connections/${connectionId}/sync?dryRun=true`, {}), unknown('dryRun'))
  assert.is(await Commands.countDocuments(), 0)
  assert.is(await Deliveries.countDocuments({ state: 'dropped' }), 2)
})

const HOSTILE = ['\0', 'a\0b', '\r\nX: y', '\x1b]52;c;AAAA\x07', '\u009b2J', '\u2028']

test('text that no database holds, and no line shows, is refused wherever it is given', async () => {
  const before = await AuditEntries.countDocuments()
  for (const { path, method, params } of Object.values<Endpoint>(opsEndpoints)) {
    if (!params) continue
    for (const text of ['\0', `${randomUUID()}\0`, 'x'.repeat(5_000)]) {
      const address = path.slice('/ops/'.length).replace(/:\w+/g, encodeURIComponent(text))
      const { status } = await operate(method.toUpperCase(), address, method === 'get' ? {} : { body: {} })
      assert.ok(status === 400 || status === 404, `${method} ${path} ${JSON.stringify(text.slice(0, 50))}: ${status}`)
    }
  }
  const removedAt = new Date(Date.now() + 100 * 86_400_000).toISOString()
  for (const text of HOSTILE.map((each) => `a${each}b`)) {
    for (const [path, body] of [
      ['keys', { name: text, role: 'support' }],
      ['apps/app-one/keys', { name: text }],
      ['deprecations', { subject: text, message: 'm', removedAt }],
      ...(text.includes('\0') ? ([['deprecations', { subject: 's', message: text, removedAt }]] as const) : []),
    ] as const)
      assert.match(await refused(path, body), /^400 /, `${path} ${JSON.stringify(body)}`)
  }
  assert.is(await AuditEntries.countDocuments(), before, 'what was refused is in no audit')
})

test('who deleted what is found for as long as anything else that was done', async () => {
  const connection = await seedConnection({ appId: 'app-one', userRef: 'purged' })
  const made = await operate<Made>('POST', 'keys', { body: { name: 'Somebody', role: 'support' } })
  const { id, key } = made.body
  const { _id: connectionId } = connection
  for (const target of [{ connectionId }, { userRef: 'purged' }]) {
    const purging = operate('POST', 'purge', { key, body: { appId: 'app-one', ...target } })
    const command = await until('the purge', () => Commands.findOne({ kind: 'purge', state: 'waiting' }).lean())
    const deletedAt = new Date().toISOString()
    await finishAs<'purge'>(command._id, { connectionsRevoked: 1, conversationsDeleted: 4, deletedAt })
    assert.is((await purging).status, 200)
  }
  assert.is((await operate('POST', 'purge', { key, body: { appId: 'app-one', userRef: 'nobody' } })).status, 404)
  assert.is((await operate('POST', 'purge?dryRun=true', { key, body: { appId: 'app-one', connectionId } })).status, 200)
  // Commands are kept for 90 days.
  await Commands.deleteMany({})
  const { entries } = auditAnswer.parse((await operate('GET', 'audit')).body)
  const details = { connectionsRevoked: 1, conversationsDeleted: 4 }
  assert.equal(
    entries
      .filter(({ by }) => by.id === id)
      .map(({ action, appId, target, details }) => ({ action, appId, target, details })),
    [
      { action: 'user.deleted', appId: 'app-one', target: 'purged', details },
      { action: 'connection.deleted', appId: 'app-one', target: connectionId, details },
    ],
  )
})

test('a stranger makes no names for the numbers, however they spell an address', async () => {
  const spellings = (word: string): string[] => [
    word,
    word.toUpperCase(),
    `${word.slice(0, -1)}${word.at(-1)?.toUpperCase()}`,
  ]
  for (const [word, rest] of [
    ['ops', 'overview'],
    ['api', 'connections'],
    ['developers', 'sign-in'],
    ['assets', 'none'],
  ] as const)
    for (const spelling of spellings(word)) await world.ask(`/${spelling}/${rest}`, { key: null })
  const text = await world.runtime.metrics.metrics()
  const routes = new Set([...text.matchAll(/route="([^"]*)"/g)].map(([, route = '']) => route))
  assert.ok(routes.has('/api/connections') && routes.has('/developers/sign-in'), [...routes].join(' '))
  assert.equal(
    [...routes].filter((route) => /[A-Z]/.test(route.replace(/:\w+/g, ''))),
    [],
  )
})

test.run()
