import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { Commands } from '../../../schemas/command/command.ts'
import { Connections } from '../../../schemas/connection/connection.ts'
import { ConsumedLinks } from '../../../schemas/user/consumed-link.ts'
import { Users } from '../../../schemas/user/user.ts'
import { seedConnection } from '../../support/seed.ts'
import { until } from '../../support/until.ts'
import { APP_ID, ESCAPED_NAME, type ManageWorld, startManageWorld } from './manage-world.ts'

const refusals = suite('refusals of the manage page')
let world: ManageWorld
refusals.before(async () => {
  world = await startManageWorld()
})
refusals.after(() => world.stop())

const EXPIRED = `This link has expired. Return to ${ESCAPED_NAME} and start again from there.`

const purges = (userRef: string) => Commands.find({ kind: 'purge', 'args.userRef': userRef }).lean()

refusals('a user without a record gets none, and another link’s confirmation is refused', async () => {
  const nobody = world.visitor()
  await nobody.open(world.token('nobody'))
  assert.is((await nobody.get('/manage/delete')).headers.get('location'), '/manage')
  await seedConnection({ appId: APP_ID, userRef: 'somebody' })
  const first = world.token('somebody')
  const somebody = world.visitor()
  await somebody.open(first)
  const { flow } = await somebody.get('/manage/delete')
  // The same browser opens another user's link in a second tab, and confirms in the first one.
  await somebody.open(world.token('nobody'))
  assert.is((await somebody.confirm(flow)).status, 403)
  assert.is((await purges('somebody')).length, 0)
  assert.is((await purges('nobody')).length, 0)
  assert.is(await Users.countDocuments({ userRef: 'nobody' }), 0)
})

refusals('links that are wrong open nothing', async () => {
  const now = Math.floor(Date.now() / 1000)
  const cases: [string, number, string][] = [
    [world.token('x', { now: (now - 1_000) * 1_000 }), 401, EXPIRED],
    [world.token('x', { purpose: 'connect' }), 400, 'This link is for something else.'],
    [world.token('x', { appSecret: 'z'.repeat(43) }), 401, 'This link is not valid.'],
    [world.token('x', { appId: 'app-one' }), 401, 'This link is not valid.'],
    [world.token('x', { appId: 'no-such-app' }), 401, 'This link is not valid.'],
    ['nonsense', 400, 'This link is not valid.'],
    ['', 400, 'This page opens from a link of the app that you connected.'],
  ]
  for (const [token, status, words] of cases) {
    const visitor = world.visitor()
    const page = await visitor.open(token)
    assert.is(page.status, status, words)
    assert.ok(page.alert?.startsWith(words), `${page.alert} instead of ${words}`)
    assert.is(visitor.cookie(), '')
  }
  for (const path of ['/manage', '/manage/delete']) assert.is((await world.visitor().get(path)).status, 400)
  assert.is((await world.visitor().confirm('x')).status, 400)
  const put = await fetch(`${world.url}/manage/delete`, { method: 'PUT' })
  assert.equal([put.status, put.headers.get('allow')], [405, 'GET, HEAD, POST'])
})

refusals('a link that ends, or whose secret is taken back, while its page is open deletes nothing', async () => {
  const userRef = 'late'
  await seedConnection({ appId: APP_ID, userRef })
  const visitor = world.visitor()
  await visitor.open(world.token(userRef, { lifetimeSeconds: 2 }))
  const { flow } = await visitor.get('/manage/delete')
  const ended = await until('the link to end', async () => {
    const page = await visitor.get('/manage')
    return page.status === 200 ? null : page
  })
  assert.is(ended.alert, EXPIRED)
  const refused = await visitor.confirm(flow)
  assert.equal([refused.status, refused.alert], [401, EXPIRED])

  const other = world.visitor()
  await other.open(world.token(userRef))
  const question = await other.get('/manage/delete')
  const app = await Apps.findById(APP_ID).lean()
  await Apps.updateOne({ _id: APP_ID }, { $set: { 'linkSecrets.0.expiresAt': new Date(0) } })
  assert.is((await other.confirm(question.flow)).status, 401)
  await Apps.updateOne({ _id: APP_ID }, { $set: { linkSecrets: app?.linkSecrets ?? [] } })
  assert.is((await purges(userRef)).length, 0)
  assert.is(await ConsumedLinks.countDocuments({ flowId: question.flow ?? '' }), 0)
})

refusals('a confirmation that did not come from the page is refused', async () => {
  const userRef = 'target'
  const { _id } = await seedConnection({ appId: APP_ID, userRef })
  const visitor = world.visitor()
  await visitor.open(world.token(userRef))
  const { flow } = await visitor.get('/manage/delete')
  const refused = [
    await visitor.confirm(undefined),
    await visitor.confirm('guess'),
    await visitor.confirm(randomUUID()),
    await visitor.confirm(flow, { origin: 'https://evil.example' }),
    await visitor.confirm(flow, { origin: 'null', 'sec-fetch-site': 'cross-site' }),
    await visitor.confirm(flow, { 'sec-fetch-site': 'same-site' }),
    await visitor.confirm(flow, { 'content-type': 'text/plain' }),
  ]
  for (const page of refused) {
    assert.is(page.status, 403)
    assert.match(page.text, 'Nothing was deleted')
    assert.ok(page.alert)
  }
  // The cookie alone is no better, altered or of another page.
  const [name, value = ''] = visitor.cookie().split('=')
  for (const cookie of [`${name}=${value.slice(0, -2)}AA`, `ccs_start=${value}`, `${name}=`]) {
    const response = await fetch(`${world.url}/manage`, { headers: { cookie } })
    assert.is(response.status, 400)
  }
  assert.is((await purges(userRef)).length, 0)
  assert.is((await Connections.findById(_id).lean())?.status, 'active')
  assert.is((await visitor.get('/manage')).status, 200, 'the link is still good')
})

refusals.run()
