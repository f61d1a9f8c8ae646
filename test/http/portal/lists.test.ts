import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { Deliveries, type Delivery } from '../../../schemas/delivery/delivery.ts'
import { AuditEntries } from '../../../schemas/operations/audit.ts'
import { ensureUser } from '../../../schemas/user/user.ts'
import { startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import type { Visitor } from './visitor.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const lists = suite('lists of the portal')
const MINUTE_MS = 60_000
let world: PortalWorld
let developer: Visitor

lists.before(async () => {
  world = await startPortalWorld()
  for (const appId of ['notes', 'other']) await world.makeApp(appId)
  await world.join('notes', 'dev@example.test', 'developer')
  developer = await world.signedIn('dev@example.test')
})
lists.after(() => world.stop())

/** Follows the links of this name to the end; what each page shows that matches. */
async function walk(path: string, link: string, what: RegExp): Promise<string[][]> {
  const pages: string[][] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const { text, status } = await developer.get(next.replaceAll('&amp;', '&'))
    assert.is(status, 200)
    pages.push([...text.matchAll(what)].map(([, found = '']) => found))
    next = new RegExp(`<a href="([^"]*)">${link}</a>`).exec(text)?.[1]
  }
  return pages
}

const delivery = (more: Partial<Delivery>): Delivery => ({
  _id: randomUUID(),
  appId: 'notes',
  event: 'data.imported',
  body: '{}',
  state: 'delivered',
  attempts: [],
  attemptsBefore: 0,
  createdAt: new Date(),
  fence: 0,
  ...more,
})

lists('activity goes back page by page, and leaves nothing out where many things happened at once', async () => {
  const start = Date.now() - 100 * MINUTE_MS
  // 7 entries a moment: no page of fifty ends between two moments by itself.
  const entries = Array.from({ length: 161 }, (_, index) => ({
    _id: randomUUID(),
    at: new Date(start - Math.floor(index / 7)),
    by: { kind: 'member' as const, id: 'ada@example.test', from: '192.0.2.1' },
    action: 'app.changed',
    appId: 'notes',
    target: `target-${index}`,
    details: {},
  }))
  await AuditEntries.insertMany(entries)
  await AuditEntries.create({ ...entries[0], _id: randomUUID(), appId: 'other', target: 'target-of-others' })
  const pages = await walk(
    '/developers/apps/notes/activity?person=ada%40example.test&action=app.changed',
    'Older actions',
    />(target-[\w-]+)</g,
  )
  assert.ok(pages.length >= 3)
  assert.ok(pages.every(({ length }) => length < 60))
  assert.equal(pages.flat().sort(), entries.map(({ target }) => target).sort())
  const second = await developer.get(`/developers/apps/notes/activity?before=${new Date(start - 5).toISOString()}`)
  assert.match(second.text, '>Newest actions</a>')
  assert.is((await developer.get('/developers/apps/notes/activity?before=x&person=nobody')).status, 200)
})

lists('deliveries and users go on page by page too', async () => {
  const at = Date.now() - 5 * MINUTE_MS
  const made = Array.from({ length: 64 }, (_, index) => delivery({ createdAt: new Date(at - Math.floor(index / 5)) }))
  await Deliveries.insertMany(made)
  const pages = await walk(
    '/developers/apps/notes/webhooks?state=delivered',
    'Older deliveries',
    /deliveries\/([\w-]{36})"/g,
  )
  assert.equal(pages.flat().sort(), made.map(({ _id }) => _id).sort())
  const references = Array.from({ length: 120 }, (_, index) => `user ${String(index).padStart(3, '0')}`)
  for (const userRef of references) await ensureUser({ appId: 'notes', userRef, now: new Date() })
  await ensureUser({ appId: 'notes', userRef: 'other', now: new Date() })
  const users = await walk('/developers/apps/notes/users?q=user', 'Next users', /<bdi>(user \d+)<\/bdi>/g)
  assert.equal(
    users.map(({ length }) => length),
    [50, 50, 20],
  )
  assert.equal(users.flat(), references)
})

lists('what failed for good since a time is replayed, and nothing else', async () => {
  const receiver = await startReceiver({ answer: () => 204 })
  try {
    await Apps.updateMany({}, { $set: { webhookUrl: receiver.url } })
    const dropped = (minutes: number, more: Partial<Delivery> = {}) => {
      const endedAt = new Date(Date.now() - minutes * MINUTE_MS)
      return delivery({ state: 'dropped', endedAt, createdAt: endedAt, ...more })
    }
    const [recent, today, week, others] = [
      dropped(30),
      dropped(5 * 60),
      dropped(3 * 24 * 60),
      dropped(10, { appId: 'other' }),
    ] as const
    await Deliveries.insertMany([recent, today, week, others])
    const stateOf = async ({ _id }: Delivery) => (await Deliveries.findById(_id).lean())?.state
    const states = () => Promise.all([recent, today, week, others].map(stateOf))
    const replay = async (hours: string) => {
      await developer.get('/developers/apps/notes/webhooks')
      return developer.post('/developers/apps/notes/webhooks/replay', { hours })
    }
    assert.is((await replay('1')).said, '1 failed delivery is sent again now.')
    await until('it is there', async () => (await stateOf(recent)) === 'delivered')
    assert.equal(await states(), ['delivered', 'dropped', 'dropped', 'dropped'])
    assert.is((await replay('1')).said, 'Nothing to send again: no delivery was given up in that time.')
    await replay('24')
    await until('the next is there', async () => (await stateOf(today)) === 'delivered')
    assert.equal(await states(), ['delivered', 'delivered', 'dropped', 'dropped'])
    await replay('168')
    await until('the last is there', async () => (await stateOf(week)) === 'delivered')
    assert.is(await stateOf(others), 'dropped', 'of another app')
    assert.is((await replay('9999')).status, 400)
    const entries = await AuditEntries.find({ appId: 'notes', action: 'deliveries.retried' }).sort({ at: 1 }).lean()
    assert.equal(
      entries.map(({ by, details }) => [by.id, details['reopened']]),
      [1, 0, 1, 1].map((count) => ['dev@example.test', count]),
    )
  } finally {
    await receiver.stop()
  }
})

lists.run()
