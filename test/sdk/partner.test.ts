import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import jwt from 'jsonwebtoken'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { LoggedEvent } from '../../sdk/example/event-log.ts'
import { APP_SECRET, type Partner, partnerEnv, startPartner } from './support/partner.ts'
import { CONNECTION, type FakeService, startService } from './support/service.ts'
import { eventBody, post, SECRET } from './support/webhook.ts'

const partner = suite<{ service: FakeService; partner: Partner }>('example partner')

partner.before.each(async (context) => {
  context.service = await startService()
  context.partner = await startPartner(context.service.url)
})

partner.after.each(async (context) => {
  await context.partner.end()
  await context.service.stop()
})

const read = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>
const events = async (url: string) => (await read(`${url}/events`))['events'] as LoggedEvent[]

function claimsOf(link: string) {
  return jwt.verify(new URL(link).searchParams.get('token') ?? '', APP_SECRET) as jwt.JwtPayload
}

partner('gives links for both purposes', async ({ service, partner: { url } }) => {
  const { url: connect } = await read(`${url}/links?userRef=user-1`)
  assert.ok(String(connect).startsWith(`${service.url}/start?token=`))
  assert.equal([claimsOf(String(connect))['userRef'], claimsOf(String(connect))['purpose']], ['user-1', 'connect'])
  const { url: manage } = await read(`${url}/links?userRef=user-1&purpose=manage`)
  assert.ok(String(manage).startsWith(`${service.url}/manage?token=`))
  for (const query of ['', '?userRef=', '?userRef=a&userRef=b', '?userRef=a&purpose=other']) {
    assert.is((await fetch(`${url}/links${query}`)).status, 400)
  }
})

partner('its buttons lead to the hosted pages, and connecting leads back', async ({ service, partner: { url } }) => {
  const connect = await fetch(`${url}/connect?userRef=user%201`, { redirect: 'manual' })
  const target = connect.headers.get('location') ?? ''
  assert.equal([connect.status, target.startsWith(`${service.url}/start?`)], [303, true])
  assert.is(claimsOf(target)['redirectUrl'], `${url}/?userRef=user+1`)
  const manage = await fetch(`${url}/manage?userRef=user-1`, { redirect: 'manual' })
  assert.is(claimsOf(manage.headers.get('location') ?? '')['purpose'], 'manage')
})

partner('shows connections and conversations, and what the API refuses', async ({ partner: { url } }) => {
  const answer = await read(`${url}/connections?userRef=demo-user`)
  assert.is((answer['connections'] as unknown[]).length, 2)
  assert.equal((await read(`${url}/connections?userRef=stranger`))['connections'], [])
  const limited = await fetch(`${url}/connections?userRef=over-limit`)
  assert.equal([limited.status, limited.headers.get('retry-after')], [429, '7'])
  const page = await read(`${url}/connections/${CONNECTION}/conversations?cursor=20`)
  assert.equal([(page['conversations'] as unknown[]).length, page['total'], page['nextCursor']], [10, 30, null])
})

partner('purges on a request in JSON only', async ({ service, partner: { url } }) => {
  const body = JSON.stringify({ connectionId: CONNECTION })
  assert.is((await fetch(`${url}/purge`, { method: 'POST', body })).status, 400)
  const headers = { 'content-type': 'application/json' }
  assert.is((await fetch(`${url}/purge`, { method: 'POST', headers, body: '{}' })).status, 400)
  const answer = await fetch(`${url}/purge`, { method: 'POST', headers, body })
  assert.is(((await answer.json()) as { ok: boolean }).ok, true)
  const purges = service.requests.filter(({ path }) => path === '/api/purge')
  assert.equal(JSON.parse(String(purges[0]?.body)), { appId: 'demo', connectionId: CONNECTION })
  assert.is(purges.length, 1)
})

partner('lists what came in, newest first, each delivery once', async ({ partner: { url } }) => {
  await post(`${url}/webhooks`, eventBody('d-1', { inserted: 3 }))
  await post(`${url}/webhooks`, eventBody('d-2', { event: 'later.invention' }))
  await post(`${url}/webhooks`, eventBody('d-1', { inserted: 3 }))
  assert.is((await post(`${url}/webhooks`, eventBody('d-3'), 'v1=1')).status, 400)
  const [refused, second, first, ...others] = await events(url)
  assert.equal([refused?.verification, refused?.deliveryId, refused?.payload], ['malformed-signature', null, null])
  assert.equal([second?.event, second?.verification, second?.userRef], ['later.invention', 'valid', 'user-1'])
  assert.equal([first?.deliveryId, first?.payload, first?.repeats], ['d-1', { userRef: 'user-1', inserted: 3 }, 1])
  assert.is(others.length, 0)
})

partner('tells the page of events as they come', async ({ partner: { url } }) => {
  const stream = await fetch(`${url}/events/stream`)
  const reader = stream.body?.getReader()
  await post(`${url}/webhooks`, eventBody('d-live'))
  const { value } = (await reader?.read()) ?? {}
  assert.match(Buffer.from(value ?? []).toString(), '"deliveryId":"d-live"')
  await reader?.cancel()
})

partner('shows no secret, and its pages take nothing from elsewhere', async ({ partner: { url } }) => {
  for (const path of ['/', '/page.js', '/views.js', '/dom.js', '/base.css', '/style.css', '/events', '/nowhere']) {
    const answer = await fetch(url + path)
    const text = await answer.text()
    for (const secret of [APP_SECRET, SECRET, 'ccs_key']) assert.not.match(text, secret)
    assert.not.match(text, /(src|href)="?https?:|@import|url\(http/)
    assert.match(answer.headers.get('content-security-policy') ?? '', "default-src 'none'")
  }
})

partner('ends with status 0 however it is asked to, with an open stream too', async ({ service, partner: first }) => {
  await fetch(`${first.url}/events/stream`)
  assert.is(await first.end('SIGTERM'), 0)
  assert.is(await (await startPartner(service.url)).end('SIGINT'), 0)
  assert.is(await (await startPartner(service.url)).end('disconnect'), 0)
})

partner('keeps events over a kill, a half-written line among them', async ({ service }) => {
  const folder = await mkdtemp(join(tmpdir(), 'ccs-partner-'))
  const env = { DATA_DIR: join(folder, 'made', 'here') }
  const before = await startPartner(service.url, env)
  await post(`${before.url}/webhooks`, eventBody('d-1'))
  await post(`${before.url}/webhooks`, eventBody('d-bad'), 'v1=1')
  const exited = once(before.child, 'exit')
  before.child.kill('SIGKILL')
  await exited
  const file = join(env.DATA_DIR, 'events.jsonl')
  await appendFile(file, '\n{"receivedAt":"2026')
  const after = await startPartner(service.url, env)
  await post(`${after.url}/webhooks`, eventBody('d-1'))
  await post(`${after.url}/webhooks`, eventBody('d-2'))
  const list = await events(after.url)
  assert.equal(
    list.map(({ deliveryId, repeats }) => [deliveryId, repeats]),
    [
      ['d-2', 0],
      ['d-1', 1],
    ],
  )
  assert.is(await after.end(), 0)
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.endsWith('}'))
  assert.is(lines.length, 2)
  await rm(folder, { recursive: true })
})

partner('does not start without its secrets, and says in one line which is missing', async ({ service }) => {
  const main = fileURLToPath(new URL('../../sdk/example/main.ts', import.meta.url))
  const cases = [{ CCS_APP_SECRET: '' }, { CCS_WEBHOOK_SECRET: '' }, { PORT: 'x' }]
  for (const change of cases) {
    const env = partnerEnv(service.url, change)
    const child = spawn(process.execPath, ['--import', 'tsx', main], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    const [code] = await once(child, 'close')
    assert.is(code, 1)
    assert.is(said.trim().split('\n').length, 1)
    assert.match(said, Object.keys(change)[0] ?? '')
  }
})

partner.run()
