import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Conversations } from '../../../schemas/archive/conversation.ts'
import { type CommandResults, Commands } from '../../../schemas/command/command.ts'
import { Accounts, type Backfill } from '../../../schemas/connection/account.ts'
import { BrowserProfiles } from '../../../schemas/connection/browser-profile.ts'
import { type Connection, Connections } from '../../../schemas/connection/connection.ts'
import { ConsumedLinks } from '../../../schemas/user/consumed-link.ts'
import { Users } from '../../../schemas/user/user.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'
import { until } from '../../support/until.ts'
import { openVisitorBrowser } from '../../support/visitor.ts'
import { APP_ID, ESCAPED_NAME, type ManageWorld, startManageWorld, type Visitor } from './manage-world.ts'

const manage = suite('manage page')
let world: ManageWorld
manage.before(async () => {
  world = await startManageWorld()
})
manage.after(() => world.stop())

const USED = `This link has already been used. Return to ${ESCAPED_NAME} and start again from there.`

/** Connects for real and waits for the first import. */
async function connected(userRef: string, email: string): Promise<Connection> {
  const command = await world.actors.connect({ userRef, email, appId: APP_ID })
  const id = command.result?.connectionId ?? assert.unreachable(command.failure?.message)
  return until('the first sync', async () => {
    const connection = await Connections.findById(id).lean<Connection>()
    return connection?.lastSyncAt && !connection.claimedBy ? connection : null
  })
}
const purges = (userRef: string) => Commands.find({ kind: 'purge', 'args.userRef': userRef }).lean()
const deletedEvents = (userRef: string) =>
  world.actors.receiver.named('data.deleted').filter(({ payload }) => payload['userRef'] === userRef)
const jtiOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as { jti: string }).jti
/** The page once the deletion has ended: on a busy machine that may be after the confirmation's answer. */
const result = (visitor: Visitor) =>
  until('the end of the deletion', async () => {
    const page = await visitor.get('/manage')
    return page.text.includes('Deleting your data…') ? null : page
  })
const plain = (text: string) => text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

manage('the token leaves the address at once, and looking consumes nothing', async () => {
  const visitor = world.visitor()
  const token = world.token('looker')
  const sent = await visitor.get(`/manage?token=${token}`)
  assert.is(sent.status, 303)
  assert.is(sent.headers.get('location'), '/manage')
  assert.is(sent.headers.get('referrer-policy'), 'no-referrer')
  assert.is(sent.headers.get('cache-control'), 'no-store')
  const [line = ''] = visitor.setCookie
  assert.match(line, /^ccs_manage=[\w-]+; Max-Age=3600; Path=\/manage; Expires=[^;]+; HttpOnly; SameSite=Lax$/)
  assert.not.match(line, token.split('.')[1] ?? '')
  for (let reload = 0; reload < 3; reload += 1) {
    const page = await visitor.get('/manage')
    assert.is(page.status, 200)
    assert.match(page.text, 'Nothing is connected')
    assert.not.match(page.text, '/manage/delete')
    assert.is(page.headers.get('referrer-policy'), 'no-referrer')
    assert.is(page.headers.get('cache-control'), 'no-store')
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/)
    assert.not.match(page.text, /<script(?![^>]*src=)|<style|style="|onclick/)
  }
  assert.is((await world.visitor().open(token)).status, 200, 'opened again elsewhere')
  assert.is(await ConsumedLinks.countDocuments({ purpose: 'manage' }), 0)
  assert.is(await Users.countDocuments({ userRef: 'looker' }), 0)
})

manage('lists the connections with their status, conversations, last sync and progress', async () => {
  const userRef = '<i>user</i> "&'
  const seed = { appId: APP_ID, userRef }
  const active = await seedConnection({
    ...seed,
    capturedAt: new Date('2026-03-01T08:00:00Z'),
    lastSyncAt: new Date('2026-03-02T10:30:00Z'),
  })
  const ended = await seedConnection({
    ...seed,
    status: 'needs_reauth',
    provider: '<u>gone</u>',
    capturedAt: new Date('2026-04-01'),
  })
  const { archiveId: _none, ...revoked } = await seedConnection({ ...seed, status: 'revoked', capturedAt: new Date() })
  await seedConnection({ appId: 'app-one', userRef, provider: 'of-another-app' })
  await seedConversations({ archiveId: active.archiveId ?? '', count: 7 })
  await seedConversations({ archiveId: ended.archiveId ?? '', count: 1 })
  const account = (connection: Connection, backfill: Backfill) =>
    Accounts.create({
      _id: connection.accountId,
      appId: APP_ID,
      provider: connection.provider,
      archiveId: connection.archiveId ?? '',
      backfill,
      fence: 0,
    })
  await account(active, { done: false, total: 400 })
  await account(ended, { done: true })
  const page = await world.visitor().open(world.token(userRef))
  const items = page.text.split('<li ').slice(1)
  assert.is(items.length, 3, 'those of another app are none of them')
  const [first = '', second = '', third = ''] = items.map(plain)
  assert.match(first, /&lt;u&gt;gone&lt;\/u&gt; Sign-in needed/)
  assert.match(first, /Conversations 1 Last sync Not yet/)
  assert.match(first, 'Connect again from')
  assert.match(second, /Sandbox Assistant Connected/)
  assert.match(second, /Conversations 7 Last sync 2 Mar 2026, 10:30 UTC Connected on 1 Mar 2026, 08:00 UTC/)
  assert.match(second, 'Importing your history: 7 of about 400 conversations')
  assert.match(items[1] ?? '', '<progress max="400" value="7"')
  assert.match(third, /Sandbox Assistant Disconnected Conversations 0 Last sync Never/)
  assert.match(page.text, `<title>Your data · ${ESCAPED_NAME}</title>`)
  assert.match(page.text, `Your data in ${ESCAPED_NAME}`)
  assert.match(page.text, 'theme-7c3aed.css')
  assert.not.match(page.text, /<b>|<u>|<i>/)
  for (const secret of [userRef, active._id, active.accountId, revoked.accountId])
    assert.not.match(page.text, secret, 'ids are nothing to a person')
})

manage('a confirmed deletion deletes everything, once, and shows what went', async () => {
  const userRef = 'leaver'
  const [ada, grace] = [await connected(userRef, 'ada@example.test'), await connected(userRef, 'grace@example.test')]
  const visitor = world.visitor()
  const token = world.token(userRef, { redirectUrl: 'https://notes.example/back?a=1&b=2' })
  const listing = await visitor.open(token)
  assert.match(listing.text, 'href="/manage/delete"')
  assert.match(listing.text, 'href="https://notes.example/back?a=1&amp;b=2"')
  const question = await visitor.get('/manage/delete')
  assert.match(plain(question.text), '15 conversations and their files from 2 connections')
  assert.match((await visitor.get('/manage')).text, 'href="/manage/delete"', 'asking changes nothing')
  assert.is(await ConsumedLinks.countDocuments({ purpose: 'manage' }), 0)

  const done = await visitor.confirm(question.flow)
  assert.is(done.status, 303)
  assert.is(done.headers.get('location'), '/manage')
  const ended = await result(visitor)
  assert.match(plain(ended.text), /Everything was deleted 15 conversations and 2 connections were deleted on/)
  assert.is(ended.alert, undefined)
  for (const { _id, archiveId = '' } of [ada, grace]) {
    const connection = await Connections.findById(_id).lean<Connection>()
    assert.is(connection?.status, 'revoked')
    assert.equal([connection?.key, connection?.credential, connection?.archiveId], [undefined, undefined, undefined])
    assert.is(await Conversations.countDocuments({ archiveId }), 0)
    assert.is(await BrowserProfiles.countDocuments({ _id }), 0)
  }
  const [command, ...more] = await purges(userRef)
  assert.is(more.length, 0)
  assert.equal(command?.by, { kind: 'link', id: jtiOf(token) })
  const event = await until('data.deleted', () => deletedEvents(userRef)[0])
  assert.equal(event.payload, {
    userRef,
    providers: ['sandbox-assistant'],
    connectionIds: [ada._id, grace._id],
    conversationsDeleted: 15,
    deletedAt: (command?.result as CommandResults['purge'] | undefined)?.deletedAt,
  })

  // A new connection of the same user is none of what was confirmed.
  const later = await connected(userRef, 'ada@example.test')
  for (const again of [await visitor.confirm(question.flow), await visitor.get('/manage/delete')]) {
    assert.is(again.status, 303)
    assert.match((await visitor.get('/manage')).text, 'Everything was deleted')
  }
  assert.match((await visitor.open(token)).text, 'Everything was deleted', 'the link again, in the same browser')
  const stranger = world.visitor()
  assert.is((await stranger.open(token)).alert, USED)
  assert.is(stranger.cookie(), '')
  assert.is((await Connections.findById(later._id).lean())?.status, 'active')
  assert.is((await purges(userRef)).length, 1)
  assert.is(deletedEvents(userRef).length, 1)
})

manage('of parallel confirmations in several browsers one deletes', async () => {
  const userRef = 'parallel'
  await connected(userRef, 'parallel@example.test')
  const token = world.token(userRef)
  const visitors = [world.visitor(), world.visitor(), world.visitor()]
  for (const visitor of visitors) await visitor.open(token)
  const flows = await Promise.all(visitors.map(async (visitor) => (await visitor.get('/manage/delete')).flow))
  assert.is(new Set(flows).size, 3)
  const tries = visitors.flatMap((visitor, index) => [1, 2, 3].map(() => visitor.confirm(flows[index])))
  const answers = await Promise.all(tries)
  const done = answers.map(({ status }) => status === 303)
  assert.is(done.filter(Boolean).length, 3, 'every click of the one browser that was first')
  for (const refused of answers.filter(({ status }) => status !== 303)) {
    assert.is(refused.status, 403)
    assert.is(refused.alert, USED)
    assert.match(refused.text, ESCAPED_NAME)
  }
  const winner = visitors[Math.floor(done.indexOf(true) / 3)]
  if (!winner) throw new Error('nobody deleted')
  assert.match(plain((await result(winner)).text), '2 conversations and 1 connection were deleted')
  assert.is((await purges(userRef)).length, 1)
  await until('data.deleted', () => deletedEvents(userRef)[0])
  assert.is(deletedEvents(userRef).length, 1)
})

manage('a confirmation that was interrupted after the link was spent is taken up by the next one', async () => {
  const userRef = 'interrupted'
  await connected(userRef, 'interrupted@example.test')
  const visitor = world.visitor()
  const token = world.token(userRef)
  await visitor.open(token)
  const { flow = '' } = await visitor.get('/manage/delete')
  await ConsumedLinks.create({
    _id: `${APP_ID}|${jtiOf(token)}`,
    purpose: 'manage',
    flowId: flow,
    consumedAt: new Date(),
    expireAt: new Date(Date.now() + 60_000),
    outbox: [],
  })
  assert.is((await visitor.get('/manage/delete')).flow, flow)
  await visitor.confirm(flow)
  assert.match((await result(visitor)).text, 'Everything was deleted')
  assert.is((await purges(userRef)).length, 1)
})

manage('a deletion under way is shown as such and its end follows', async () => {
  const userRef = 'slow'
  const connection = await connected(userRef, 'slow-purge@example.test')
  const visitor = world.visitor()
  await visitor.open(world.token(userRef))
  const { flow } = await visitor.get('/manage/delete')
  // Another actor holds the account: the purge has to wait for it.
  const held = { claimableAt: new Date(Date.now() + 3_000), claimedBy: 'someone' }
  await Accounts.updateOne({ _id: connection.accountId }, { $set: held, $inc: { fence: 1 } })
  const confirmed = visitor.confirm(flow)
  const page = await until('the page of a deletion under way', async () => {
    const seen = await visitor.get('/manage')
    return seen.text.includes('Deleting your data…') ? seen : null
  })
  assert.is(page.headers.get('refresh'), '2')
  assert.match(page.text, 'role="status"')
  await Accounts.updateOne(
    { _id: connection.accountId },
    { $set: { claimableAt: new Date() }, $unset: { claimedBy: 1 } },
  )
  assert.is((await confirmed).status, 303)
  assert.match((await result(visitor)).text, 'Everything was deleted')
})

manage('what was deleted before the confirmation counts nothing and tells nobody', async () => {
  const userRef = 'vanishing'
  const { _id } = await seedConnection({ appId: APP_ID, userRef })
  const visitor = world.visitor()
  await visitor.open(world.token(userRef))
  const { flow } = await visitor.get('/manage/delete')
  await Connections.updateOne({ _id }, { $set: { status: 'revoked' }, $unset: { archiveId: 1 } })
  assert.match((await visitor.get('/manage')).text, 'Nothing is left to delete')
  await visitor.confirm(flow)
  assert.match(plain((await result(visitor)).text), 'Nothing was left: it had been deleted before.')
  assert.is(deletedEvents(userRef).length, 0)
})

manage('works in a browser without JavaScript, and shows local times in one with it', async () => {
  const userRef = 'by-hand'
  await connected(userRef, 'by-hand@example.test')
  const browser = await openVisitorBrowser()
  try {
    const scripted = await browser.newPage({ timezoneId: 'Asia/Tokyo' })
    const problems: string[] = []
    scripted.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    await scripted.goto(`${world.url}/manage?token=${world.token(userRef)}`)
    assert.is(scripted.url(), `${world.url}/manage`)
    const time = scripted.locator('time').first()
    await until('local time', async () => !(await time.textContent())?.includes('UTC'))
    assert.match((await time.getAttribute('title')) ?? '', 'UTC')
    assert.equal(problems, [])

    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${world.url}/manage?token=${world.token(userRef)}`)
    await page.getByRole('link', { name: 'Delete all my data…' }).click()
    await page.getByRole('link', { name: 'Keep my data' }).click()
    await page.getByRole('link', { name: 'Delete all my data…' }).click()
    await page.getByRole('button', { name: 'Delete everything' }).click()
    await page.getByRole('heading', { name: 'Everything was deleted' }).waitFor()
    assert.is(page.url(), `${world.url}/manage`)
    await page.reload()
    assert.match((await page.getByRole('status').textContent()) ?? '', '2 conversations and 1 connection')
    await scripted.reload()
    assert.match((await scripted.locator('main').textContent()) ?? '', 'Nothing is left to delete')
  } finally {
    await browser.close()
  }
})

manage.run()
