import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ACCESS } from '../../../http/portal/routes.ts'
import { Apps } from '../../../schemas/app/app.ts'
import { Commands } from '../../../schemas/command/command.ts'
import { Deliveries } from '../../../schemas/delivery/delivery.ts'
import { Teams } from '../../../schemas/member/membership.ts'
import { PortalSessions } from '../../../schemas/member/session.ts'
import { teamOf } from '../../../schemas/member/team.ts'
import { seedConnection } from '../../support/seed.ts'
import type { Visitor } from './visitor.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const strangers = suite('what strangers send to the portal')
const MARKUP = `"><img src=x onerror=alert(1)>'</title><script>alert(2)</script>`
let world: PortalWorld
/** An owner of `one`, and of `two`. */
let one: Visitor
let two: Visitor
let values: Record<string, string>

strangers.before(async () => {
  world = await startPortalWorld()
  for (const appId of ['one', 'two']) {
    await world.makeApp(appId, { name: `${appId} ${MARKUP}` })
    await world.join(appId, `${appId}@example.test`, 'owner')
  }
  one = await world.signedIn('one@example.test')
  two = await world.signedIn('two@example.test')
  values = await thingsOf('one')
})
strangers.after(() => world.stop())

/** Something of each kind in an app, by the names of the routes. */
async function thingsOf(appId: string): Promise<Record<string, string>> {
  const { userId } = await seedConnection({ appId, userRef: `${appId} ${MARKUP}` })
  const { _id: deliveryId } = await Deliveries.create({
    _id: randomUUID(),
    appId,
    event: 'data.imported',
    body: JSON.stringify({ markup: MARKUP }),
    state: 'dropped',
    attempts: [{ number: 1, at: new Date(), status: 500, durationMs: 3, error: `Answered 500`, answer: MARKUP }],
    createdAt: new Date(),
    endedAt: new Date(),
    fence: 0,
  })
  await one.get('/developers/apps/one/team')
  await one.post('/developers/apps/one/team/invitations', { email: 'invited@example.test', role: 'developer' })
  await one.post('/developers/apps/one/keys', { name: MARKUP })
  const { invitations, members } = await teamOf('one')
  const app = await Apps.findById(appId).lean()
  return {
    appId,
    userId,
    deliveryId,
    keyId: app?.apiKeys.at(-1)?.id ?? '',
    invitationId: invitations[0]?.id ?? '',
    memberId: members[0]?.id ?? '',
  }
}

const routes = (method: string, access: readonly string[]) =>
  Object.entries(ACCESS)
    .filter(([name, who]) => name.startsWith(`${method} `) && access.includes(who))
    .map(([name]) => name.slice(method.length + 1))

const addressOf = (route: string, more: Record<string, string> = {}): string =>
  `/developers${route.replace(/:(\w+)/g, (_, name: string) => ({ ...values, ...more })[name] ?? '')}`

/** What forms could have changed. */
const present = async (): Promise<string> =>
  JSON.stringify([
    await Apps.find().sort({ _id: 1 }).select({ rate: 0 }).lean(),
    await Teams.find().sort({ _id: 1 }).lean(),
    await Deliveries.find().sort({ _id: 1 }).lean(),
    await Commands.countDocuments(),
    await PortalSessions.countDocuments(),
  ])

strangers('no form from elsewhere changes anything, whichever it is', async () => {
  await one.get('/developers/apps/one/team')
  const before = await present()
  const attempts = [
    { token: null },
    { token: 'x' },
    { headers: { origin: 'https://evil.example' } },
    { headers: { origin: 'null' } },
    { headers: { 'sec-fetch-site': 'cross-site' } },
    { headers: { 'sec-fetch-site': 'same-site' } },
    { headers: { 'content-type': 'text/plain' } },
    { headers: { 'content-type': 'application/json' } },
  ]
  for (const route of routes('POST', ['developer', 'owner', 'member'])) {
    for (const options of attempts) {
      const page = await one.post(addressOf(route), { name: 'x', role: 'developer' }, { ...options, follow: false })
      assert.is(page.status, 403, `${route} ${JSON.stringify(options)}`)
    }
  }
  assert.is(await present(), before)
})

strangers('no page changes anything by being opened', async () => {
  const before = await present()
  for (const route of routes('GET', ['developer', 'owner', 'member'])) {
    const page = await one.get(addressOf(route))
    assert.ok([200, 303, 404].includes(page.status), `${route}: ${page.status}`)
  }
  assert.is(await present(), before)
})

strangers('the form token of one visit is worth nothing in another', async () => {
  const { text } = await two.get('/developers/apps/two/keys')
  const [, token = ''] = /name="formToken" value="([^"]*)"/.exec(text) ?? []
  assert.is((await one.post('/developers/apps/one/keys', { name: 'x' }, { token })).status, 403)
})

strangers('ids of another app are not found under one’s own', async () => {
  await two.get('/developers/apps/two/team')
  const before = await present()
  const withIds = [...routes('POST', ['developer', 'owner']), ...routes('GET', ['developer', 'owner'])].filter(
    (route) => /:(?!appId)/.test(route),
  )
  assert.ok(withIds.length > 8)
  for (const method of ['get', 'post'] as const) {
    for (const route of withIds.filter((each) => Object.hasOwn(ACCESS, `${method.toUpperCase()} ${each}`))) {
      const path = addressOf(route, { appId: 'two' })
      const page = method === 'get' ? await two.get(path) : await two.post(path, { role: 'owner', confirmation: 'x' })
      assert.is(page.status, 404, `${method} ${route}`)
      assert.not.match(page.text, 'invited@example.test')
    }
  }
  assert.is(await present(), before)
})

strangers('a cookie that was planted before signing in names no visit afterwards', async () => {
  const victim = world.visitor()
  await victim.get('/developers/sign-in')
  const planted = victim.cookies.get('ccs_portal') ?? ''
  assert.is((await victim.signIn(await world.link('one@example.test'))).status, 200)
  const thief = world.visitor()
  thief.cookies.set('ccs_portal', planted)
  assert.is((await thief.get('/developers/apps/one/overview')).status, 303)
})

strangers('what others wrote is text on every page', async () => {
  for (const route of routes('GET', ['developer', 'owner'])) {
    const { text, headers } = await one.get(addressOf(route))
    // A file to be kept is not shown.
    if (headers.get('content-disposition')?.startsWith('attachment')) continue
    assert.not.match(text, /<img src=x|<script>alert/, route)
  }
  const found = await one.get(`/developers/apps/one/users?${new URLSearchParams({ q: MARKUP })}`)
  assert.not.match(found.text, '<img src=x')
})

strangers('nobody is sent elsewhere', async () => {
  const paths = [
    '/developers//evil.example',
    '/developers/switch?app=//evil.example',
    '/developers/switch?app=https://evil.example',
    '/developers/sign-in?next=https://evil.example',
    '/developers/apps/%2F%2Fevil.example',
    '/developers/apps/one/..%2F..%2Fevil',
  ]
  for (const path of paths) {
    const { location, status } = await one.get(path)
    assert.ok(status < 500, path)
    if (location !== null) assert.match(location, /^\/developers(\/|$)/, path)
  }
})

const ODD_TEXTS = [
  '\0',
  'a\0b',
  '\ud800',
  '\u202e',
  '\r\nBcc: evil@example.test',
  ' ',
  'x'.repeat(600),
  '{"$ne":1}',
  '%00',
]

strangers('odd text in any field or query is refused or kept, and breaks nothing', async () => {
  await one.get('/developers/apps/one/settings')
  const names = [
    'name',
    'email',
    'role',
    'appName',
    'logoUrl',
    'primaryColor',
    'contactEmail',
    'webhookUrl',
    'hours',
    'from',
    'confirmation',
  ]
  for (const text of ODD_TEXTS) {
    for (const route of routes('POST', ['developer', 'owner']).filter((each) => !/rotate|test$|remove/.test(each))) {
      const fields = Object.fromEntries(names.map((name) => [name, text]))
      const page = await one.post(addressOf(route), fields, { follow: false })
      assert.ok(page.status < 500, `${JSON.stringify(text)} to ${route}: ${page.status}`)
    }
    const query = new URLSearchParams(
      ['q', 'after', 'person', 'action', 'before', 'state', 'event', 'test', 'app'].map((name) => [name, text]),
    )
    for (const route of routes('GET', ['developer', 'owner', 'member'])) {
      const page = await one.get(`${addressOf(route)}?${query}`)
      assert.ok(page.status < 500, `${JSON.stringify(text)} in ${route}: ${page.status}`)
    }
    for (const name of ['appId', 'userId', 'keyId', 'deliveryId']) {
      const odd = { [name]: encodeURIComponent(text.replace('\ud800', '')) || 'x' }
      for (const route of routes('GET', ['developer', 'owner']).filter((each) => each.includes(`:${name}`))) {
        assert.ok((await one.get(addressOf(route, odd))).status < 500, route)
      }
    }
  }
  for (const path of ['/developers/apps/%ff/keys', '/developers/%', '/developers/apps/one/users?q=%ff&q=b&q[$ne]=c']) {
    assert.ok((await one.get(path)).status < 500, path)
  }
  // The owner's own app is still theirs.
  assert.is((await one.get('/developers/apps/one/overview')).status, 200)
})

strangers('a form that is larger than any of ours is refused', async () => {
  await one.get('/developers/apps/one/keys')
  const page = await one.post('/developers/apps/one/keys', { name: 'x'.repeat(20_000) })
  assert.is(page.status, 413)
  assert.ok(page.alert)
  const anybody = world.visitor()
  await anybody.get('/developers/sign-in')
  assert.is((await anybody.post('/developers/sign-in', { email: 'x'.repeat(20_000) })).status, 413)
})

strangers('a name writes no header and no line of a mail', async () => {
  await Apps.updateOne(
    { _id: 'one' },
    { $set: { name: 'Notes\r\nBcc: evil@example.test\r\n\r\nhttps://evil.example' } },
  )
  await one.get('/developers/apps/one/team')
  await one.post('/developers/apps/one/team/invitations', { email: 'mailed@example.test', role: 'owner' })
  const link = await world.mailedLink('mailed@example.test')
  assert.ok(link.startsWith(world.url), 'the first address on a line of its own is ours')
  const [mail = ''] = await world.mails('mailed@example.test')
  assert.not.match(mail, /^bcc:/im)
  assert.not.match(mail, /^https:\/\/evil/m)
  for (const email of [
    'a@example.test\r\nBcc: evil@example.test',
    'a@example.test,b@example.test',
    '<a@example.test>',
  ]) {
    assert.is((await one.post('/developers/apps/one/team/invitations', { email, role: 'owner' })).status, 400, email)
  }
})

strangers('a downloaded list holds no formula, for spreadsheets that cut at other signs either', async () => {
  await one.get('/developers/apps/one/keys')
  for (const name of ['=1+1', ' =1+1', 'a;=1+1', 'a,@SUM(A1)', 'a\t-1', '"";=1', '\uff1d1+1']) {
    await one.post('/developers/apps/one/keys', { name })
  }
  const { text } = await one.get('/developers/apps/one/activity.csv')
  assert.match(text, '1+1')
  for (const line of text.split('\r\n')) {
    for (const part of line.split(/[;,\t|]/)) assert.not.match(part.replaceAll('"', ''), /^\s*[=+@\uff1d-]/, line)
  }
})

strangers.run()
