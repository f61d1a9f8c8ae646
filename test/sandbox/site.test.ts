import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { extractConversation } from '../../provider/branch.ts'
import { type RunningSite, sessionCookie, startSite } from '../provider/sandbox.ts'

const test = suite<{ site: RunningSite }>('sandbox site')
test.before(async (context) => {
  context.site = await startSite()
})
test.after(({ site }) => site.stop())

const check = async (site: RunningSite, cookie: string) => site.client({ cookie }).session()
const location = (response: Response) => response.headers.get('location')

test('a password other than "wrong" signs in, and the account is told', async ({ site }) => {
  const refused = await site.post('/login', { email: 'ada@example.test', password: 'wrong' })
  assert.is(refused.status, 401)
  assert.is(sessionCookie(refused), '')
  assert.match(await refused.text(), /role="alert">Wrong/)

  const answer = await site.post('/login', { email: 'Ada@Example.test', password: 'x' })
  assert.equal([answer.status, location(answer)], [303, '/'])
  const session = await check(site, sessionCookie(answer))
  assert.ok(session.usable)
  assert.equal(session.account, { id: 'user-ada', email: 'ada@example.test', name: 'Ada' })
  const home = await fetch(`${site.url}/`, { headers: { cookie: `session-token=${sessionCookie(answer)}` } })
  assert.match(await home.text(), /Welcome, Ada/)
})

test('verify goes through a code and a consent screen before the session is usable', async ({ site }) => {
  const first = await site.post('/login', { email: 'verify@example.test', password: 'x' })
  assert.is(location(first), '/login/code')
  const cookie = sessionCookie(first)
  assert.not((await check(site, cookie)).usable)
  const wrong = await site.post('/login/code', { code: '000000' }, `session-token=${cookie}`)
  assert.is(wrong.status, 401)
  const right = await site.post('/login/code', { code: '123456' }, `session-token=${cookie}`)
  assert.is(location(right), '/login/consent')
  assert.not((await check(site, sessionCookie(right))).usable)
  const allowed = await site.post('/login/consent', { answer: 'allow' }, `session-token=${sessionCookie(right)}`)
  assert.is(location(allowed), '/')
  assert.ok((await check(site, sessionCookie(allowed))).usable)
})

test('popup is confirmed in the window that the login opens', async ({ site }) => {
  const first = await site.post('/login', { email: 'popup@example.test', password: 'x' })
  assert.is(location(first), '/login/confirm')
  assert.not((await check(site, sessionCookie(first))).usable)
  const confirmed = await site.post('/login/confirm', {}, `session-token=${sessionCookie(first)}`)
  assert.match(await confirmed.text(), /window\.close/)
  assert.ok((await check(site, sessionCookie(confirmed))).usable)
})

test('every account has as many conversations as promised', async ({ site }) => {
  const counts: [string, number][] = [
    ['ada', 12],
    ['grace', 3],
    ['branches', 4],
    ['big', 400],
    ['huge', 20_000],
    ['empty', 0],
    ['somebody', 2],
    ['bulk-2000', 2000],
    ['ada+2', 12],
  ]
  for (const [name, count] of counts) {
    const page = await (await site.clientOf(`${name}@example.test`)).list({ offset: 0 })
    assert.is(page.total, count, name)
    assert.is(page.items.length, Math.min(count, 28), name)
    assert.is(page.nextOffset, count > 28 ? 28 : null, name)
  }
})

test('the list and the conversation agree, to the last one of huge', async ({ site }) => {
  for (const [name, offset] of [
    ['ada', 0],
    ['branches', 0],
    ['huge', 19_990],
  ] as const) {
    const client = await site.clientOf(`${name}@example.test`)
    const { items } = await client.list({ offset })
    for (const item of items) {
      const raw = await client.conversation(item.id)
      const { externalId, title, createTime, updateTime, messages } = extractConversation(raw)
      assert.equal({ id: externalId, title, createTime, updateTime }, item)
      assert.ok(messages.length > 0)
    }
    const times = items.map(({ updateTime }) => updateTime?.getTime() ?? 0)
    assert.equal(
      times,
      times.toSorted((a, b) => b - a),
    )
  }
})

test("three of ada's conversations began within the last 30 days", async ({ site }) => {
  const ada = { action: 'export', account: 'ada@example.test' }
  const { conversations } = await site.control<{ conversations: unknown[] }>(ada)
  const since = Date.now() - 30 * 24 * 3600_000
  const starts = conversations.map((raw) => extractConversation(raw).firstMessageAt?.getTime() ?? 0)
  assert.is(starts.filter((start) => start > since).length, 3)
})

test('content and sessions outlive a restart of the site', async () => {
  const first = await startSite()
  const cookie = await first.signIn('grace@example.test')
  const before = await first.control({ action: 'export', account: 'grace@example.test' })
  await first.stop()
  const second = await startSite()
  try {
    assert.equal(await second.control({ action: 'export', account: 'grace@example.test' }), before)
    assert.ok((await check(second, cookie)).usable)
  } finally {
    await second.stop()
  }
})

test('expires and refuses go by the time since the login', async () => {
  let now = Date.now()
  const site = await startSite({ clock: { now: () => new Date(now) } })
  try {
    const expires = await site.signIn('expires@example.test')
    const refuses = await site.signIn('refuses@example.test')
    assert.ok((await check(site, expires)).usable)
    assert.not((await check(site, refuses)).usable)
    now += 21_000
    assert.ok((await check(site, refuses)).usable)
    now += 100_000
    assert.not((await check(site, expires)).usable)
    assert.ok((await check(site, refuses)).usable)
  } finally {
    await site.stop()
  }
})

test('control changes conversations and refuses what it does not know', async ({ site }) => {
  const account = 'control@example.test'
  const client = await site.clientOf(account)
  const { id } = await site.control<{ id: string }>({ action: 'add', account, title: 'Added' })
  assert.is((await client.list({ offset: 0 })).items[0]?.id, id)
  await site.control({
    action: 'change',
    account,
    id,
    title: 'Changed',
    messages: [{ role: 'assistant', text: 'More' }],
  })
  const changed = extractConversation(await client.conversation(id))
  assert.equal([changed.title, changed.messages.map(({ content }) => content)], ['Changed', ['Hello', 'More']])
  await site.control({ action: 'delete', account, id })
  assert.is(await client.conversation(id), null)
  assert.is((await client.list({ offset: 0 })).total, 2)
  for (const wrong of [
    {},
    { action: 'x' },
    { action: 'list', account: 'nobody' },
    { action: 'change', account, id: 'gone' },
  ]) {
    let refused = false
    await site.control(wrong).catch(() => {
      refused = true
    })
    assert.ok(refused)
  }
})

test.run()
