import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createAssets } from '../../../http/pages/kit/assets.ts'
import { portal } from '../../../http/portal/index.ts'
import { ACCESS, type Access } from '../../../http/portal/routes.ts'
import { Apps } from '../../../schemas/app/app.ts'
import { Deliveries } from '../../../schemas/delivery/delivery.ts'
import { removeMember, teamOf } from '../../../schemas/member/team.ts'
import { ensureUser } from '../../../schemas/user/user.ts'
import type { Visitor } from './visitor.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const roles = suite('roles of the portal')
let world: PortalWorld

roles.before(async () => {
  world = await startPortalWorld()
  for (const appId of ['one', 'two']) await world.makeApp(appId)
})
roles.after(() => world.stop())

/** Every route that the router has, as `GET /path`. */
async function mountedRoutes(): Promise<string[]> {
  const router = portal({ runtime: world.runtime, assets: await createAssets() })
  return router.stack.flatMap(({ route }) => {
    if (!route) return []
    const { methods } = route as unknown as { methods: Record<string, boolean> }
    return Object.keys(methods)
      .filter((method) => method !== '_all')
      .map((method) => `${method.toUpperCase()} ${String(route.path)}`)
  })
}

roles('every route of the router stands in the table, and every row is mounted', async () => {
  assert.equal((await mountedRoutes()).sort(), Object.keys(ACCESS).sort())
})

async function addressesOf(appId: string): Promise<Record<string, string>> {
  const user = await ensureUser({ appId, userRef: 'somebody', now: new Date() })
  const delivery = await Deliveries.create({
    _id: randomUUID(),
    appId,
    event: 'test.event',
    body: '{}',
    state: 'dropped',
    attempts: [],
    createdAt: new Date(),
    endedAt: new Date(),
    fence: 0,
  })
  const app = await Apps.findById(appId).lean()
  return {
    appId,
    userId: user._id,
    keyId: app?.apiKeys.at(-1)?.id ?? '',
    deliveryId: delivery._id,
    invitationId: randomUUID(),
    memberId: randomUUID(),
  }
}

const ask = (visitor: Visitor, method: string, path: string) =>
  method === 'GET' ? visitor.get(path) : visitor.post(path, {}, { follow: false })

roles('each route is open to whom the table says, and to nobody else', async () => {
  const values = await addressesOf('one')
  await world.join('one', 'owner@example.test', 'owner')
  await world.join('one', 'second@example.test', 'owner')
  await world.join('one', 'developer@example.test', 'developer')
  await world.join('one', 'gone@example.test', 'owner')
  await world.join('two', 'other@example.test', 'owner')
  const signOut = (name: string) => name.startsWith('POST /sign-out')
  const people = {
    nobody: world.visitor(),
    developer: await world.signedIn('developer@example.test'),
    owner: await world.signedIn('owner@example.test'),
    other: await world.signedIn('other@example.test'),
    gone: await world.signedIn('gone@example.test'),
  }
  const goneId = (await teamOf('one')).members.find(({ email }) => email === 'gone@example.test')?.id ?? ''
  await people.nobody.get('/developers/sign-in')
  for (const person of [people.developer, people.owner, people.other, people.gone]) {
    await person.get(`/developers/apps/${person === people.other ? 'two' : 'one'}/team`)
  }
  assert.is(await removeMember({ appId: 'one', id: goneId }), 'done')
  for (const [name, access] of Object.entries<Access>(ACCESS)) {
    if (access === 'anyone' || signOut(name)) continue
    const [method = '', pattern = ''] = name.split(' ')
    const path = `/developers${pattern.replace(/:(\w+)/g, (_, key: string) => values[key] ?? '')}`
    const inApp = pattern.startsWith('/apps/')
    for (const person of ['nobody', 'gone'] as const) {
      const page = await ask(people[person], method, path)
      assert.equal([page.status, page.location], [303, '/developers/sign-in'], `${person} ${name}`)
    }
    if (!inApp) continue
    assert.is((await ask(people.other, method, path)).status, 404, `other ${name}`)
    const refused = await ask(people.developer, method, path)
    if (access === 'owner') assert.is(refused.status, 403, `developer ${name}`)
    else
      assert.ok(
        ![401, 403, 404].includes(refused.status) || pattern.includes('keyId'),
        `developer ${name}: ${refused.status}`,
      )
    const allowed = await ask(people.owner, method, path)
    // Ids of nothing are not found, which only somebody who may ask learns.
    const madeUp = /:(invitationId|memberId)/.test(pattern)
    const gone = pattern.includes(':keyId')
    assert.ok(
      madeUp ? [400, 404].includes(allowed.status) : [200, 303, 400].includes(allowed.status) || gone,
      `owner ${name}: ${allowed.status}`,
    )
  }
})

roles('an owner’s form from elsewhere changes nothing', async () => {
  const owner = await world.signedIn('owner@example.test')
  await owner.get('/developers/apps/one/keys')
  for (const options of [{ token: null }, { headers: { origin: 'https://evil.example' } }]) {
    assert.is((await owner.post('/developers/apps/one/keys', { name: 'x' }, options)).status, 403)
  }
  assert.is((await Apps.findById('one').lean())?.apiKeys.filter(({ name }) => name === 'x').length, 0)
})

roles('two owners who demote each other at the same moment leave one', async () => {
  for (let round = 0; round < 10; round += 1) {
    const appId = `duel-${round}`
    await world.makeApp(appId)
    const emails = [`a${round}@example.test`, `b${round}@example.test`] as const
    for (const email of emails) await world.join(appId, email, 'owner')
    const { members } = await teamOf(appId)
    const idOf = (email: string) => members.find((each) => each.email === email)?.id ?? ''
    const visitors = await Promise.all(emails.map((email) => world.signedIn(email)))
    await Promise.all(visitors.map((each) => each.get(`/developers/apps/${appId}/team`)))
    await Promise.all(
      visitors.map((each, index) =>
        each.post(
          `/developers/apps/${appId}/team/members/${idOf(emails[1 - index] ?? '')}/${round % 2 ? 'remove' : 'role'}`,
          { role: 'developer' },
          { follow: false },
        ),
      ),
    )
    const left = (await teamOf(appId)).members.filter(({ role }) => role === 'owner')
    assert.is(left.length, 1, `round ${round}`)
  }
})

roles.run()
