import { randomUUID } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { errorText, ServiceError } from '../../../core/errors.ts'
import { readLink } from '../../../http/access/links.ts'
import { beginFlow } from '../../../http/actions/begin-flow.ts'
import type { HttpRuntime } from '../../../http/kit/runtime.ts'
import { loadProfiles } from '../../../provider/load-profiles.ts'
import { Apps } from '../../../schemas/app/app.ts'
import { createApp } from '../../../schemas/app/apps.ts'
import { ConsumedLinks } from '../../../schemas/user/consumed-link.ts'
import { Users } from '../../../schemas/user/user.ts'
import { connectedTestDatabase } from '../../support/database.ts'
import { testRuntime } from '../../support/runtime.ts'

let stop: () => Promise<void>
let runtime: HttpRuntime
let secret = ''

test.before(async () => {
  const database = await connectedTestDatabase()
  stop = database.stop
  const base = testRuntime({ url: database.url })
  runtime = { ...base, profiles: await loadProfiles(base.config) }
  const { keyring } = runtime
  const made = await createApp({
    appId: 'app-one',
    name: 'One',
    contactEmail: 'one@example.test',
    createdBy: 'test',
    keyring,
    now: new Date(),
  })
  secret = made.appSecret
})

test.after(() => stop())

const now = () => Math.floor(Date.now() / 1000)
const claims = (more: object = {}) => ({
  appId: 'app-one',
  userRef: 'user-1',
  scopes: ['conversations:read'],
  purpose: 'connect',
  jti: randomUUID(),
  iat: now(),
  exp: now() + 900,
  ...more,
})
const sign = (more: object = {}, options: jwt.SignOptions = {}, key = secret) => jwt.sign(claims(more), key, options)
const read = (token: unknown, purpose: 'connect' | 'manage' = 'connect') => readLink({ token, purpose, runtime })

async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    if (error instanceof ServiceError) return `${error.status} ${errorText(error)}`
    throw error
  }
  return 'accepted'
}

test('a good link is read, with its optional claims', async () => {
  const { app, claims: read1 } = await read(sign({ provider: 'x', redirectUrl: 'https://app.example/done', other: 1 }))
  assert.is(app._id, 'app-one')
  assert.is(read1.userRef, 'user-1')
  assert.is(read1.provider, 'x')
  assert.is(read1.redirectUrl, 'https://app.example/done')
  for (const redirectUrl of ['javascript:alert(1)', 'http://app.example/', '//x', 'https://u:p@app.example/']) {
    assert.is((await read(sign({ redirectUrl }))).claims.redirectUrl, undefined, redirectUrl)
  }
  assert.is((await read(sign({ redirectUrl: 'http://127.0.0.1:3/x' }))).claims.redirectUrl, 'http://127.0.0.1:3/x')
})

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('every wrong link is refused with its reason', async () => {
  const without = (name: string) => {
    const all: Record<string, unknown> = claims()
    delete all[name]
    return jwt.sign(all, secret, { noTimestamp: name === 'iat' })
  }
  const good = sign()
  const [head = '', body = '', tag = ''] = good.split('.')
  const cases: [unknown, string][] = [
    [undefined, '400 Missing token'],
    ['', '400 Missing token'],
    [['a', 'b'], '400 Malformed token'],
    ['abc', '400 Malformed token'],
    ['a.b.c', '400 Malformed token'],
    [`${head}.${Buffer.from('[]x').toString('base64url')}.${tag}`, '400 Malformed token'],
    ['x'.repeat(9000), '400 Malformed token'],
    [sign({}, { algorithm: 'HS512' }), '401 Invalid token: algorithm must be HS256'],
    [`${encode({ alg: 'none', typ: 'JWT' })}.${body}.`, '401 Invalid token: algorithm must be HS256'],
    [sign({}, { header: { alg: 'HS256', crit: ['b64'] } }), '401 Invalid token: unknown critical header'],
    [`${head}.${body}.${'A'.repeat(tag.length)}`, '401 Invalid token: bad signature'],
    [`${head}.${encode(claims({ userRef: 'other' }))}.${tag}`, '401 Invalid token: bad signature'],
    [sign({}, {}, 'z'.repeat(43)), '401 Invalid token: bad signature'],
    [sign({ appId: 'unknown' }), '401 Invalid token: unknown app'],
    [sign({ appId: 'a\0b' }), '401 Invalid token: unknown app'],
    [sign({ appId: { $gt: '' } }), '401 Invalid token: appId is missing'],
    [without('appId'), '401 Invalid token: appId is missing'],
    [without('exp'), '401 Invalid token: exp is missing'],
    [without('iat'), '401 Invalid token: iat is missing'],
    [without('jti'), '401 Invalid token: jti is missing'],
    [without('userRef'), '401 Invalid token: userRef is missing'],
    [without('scopes'), '401 Invalid token: scopes is missing'],
    [sign({ userRef: 'x'.repeat(513) }), '401 Invalid token: userRef is longer than 512 characters'],
    [sign({ userRef: 'a\0' }), '401 Invalid token: userRef is no valid text'],
    [sign({ userRef: { $ne: 1 } }), '401 Invalid token: userRef must be a string'],
    [sign({ purpose: 'manage' }), "400 Token purpose must be 'connect'"],
    [sign({ exp: now() - 1, iat: now() - 800 }), '401 Invalid token: expired'],
    [sign({ iat: now() + 120, exp: now() + 300 }), '401 Invalid token: iat is in the future'],
    [sign({ exp: now() + 901 }), '401 Invalid token: lifetime is longer than 15 minutes'],
    [sign({ nbf: now() + 500 }), '401 Invalid token: not valid yet'],
  ]
  for (const [token, expected] of cases) assert.is(await refusal(read(token)), expected)
  assert.is(await refusal(read(sign({ iat: now() + 30, exp: now() + 900 }))), 'accepted')
  assert.is(await refusal(read(sign(), 'manage')), "400 Token purpose must be 'manage'")
})

test('during a rotation both secrets verify, afterwards the new one only', async () => {
  const fresh = await createApp({
    appId: 'app-two',
    name: 'Two',
    contactEmail: 'two@example.test',
    createdBy: 'test',
    keyring: runtime.keyring,
    now: new Date(),
    secrets: { appSecret: 'n'.repeat(40), apiKey: 'k', webhookSecret: 'w'.repeat(40) },
  })
  const two = await Apps.findById('app-two').lean()
  const end = new Date(Date.now() + 60_000)
  await Apps.updateOne(
    { _id: 'app-two' },
    { $set: { linkSecrets: [two?.linkSecrets[0], { ...two?.linkSecrets[0], expiresAt: end }] } },
  )
  assert.is(await refusal(read(sign({ appId: 'app-two' }, {}, fresh.appSecret))), 'accepted')
  await Apps.updateOne(
    { _id: 'app-two' },
    { $set: { linkSecrets: [{ ...two?.linkSecrets[0], expiresAt: new Date(0) }] } },
  )
  assert.is(await refusal(read(sign({ appId: 'app-two' }, {}, fresh.appSecret))), '401 Invalid token: bad signature')
})

test('a flow consumes its link once, and comes back to it', async () => {
  const { app, claims: link } = await read(sign({ userRef: 'flow-user' }))
  const flows = Array.from({ length: 20 }, () => randomUUID())
  const results = await Promise.allSettled(
    flows.map((flowId) => beginFlow({ app, claims: link, flowId, kind: 'lease', runtime })),
  )
  const winners = flows.filter((_, index) => results[index]?.status === 'fulfilled')
  assert.is(winners.length, 1)
  const [flowId = ''] = winners
  const { user, profile } = await beginFlow({ app, claims: link, flowId, kind: 'lease', runtime })
  assert.is(profile.id, 'sandbox-assistant')
  assert.is(await Users.countDocuments({ userRef: 'flow-user' }), 1)
  assert.is(
    await refusal(beginFlow({ app, claims: link, flowId: randomUUID(), kind: 'lease', runtime })),
    '403 This link has already been used',
  )
  const stored = await ConsumedLinks.find({ flowId }).lean()
  assert.is(stored.length, 1)
  assert.equal(
    stored[0]?.outbox.map(({ event, payload }) => [event, JSON.parse(payload)]),
    [
      [
        'connect.started',
        {
          userRef: 'flow-user',
          user_id: user._id,
          connector: 'sandbox-assistant',
          scopes: ['conversations:read'],
        },
      ],
    ],
  )
  assert.ok(stored[0]?.outboxAt)
})

test('a forbidden scope and an unknown provider leave the link unspent', async () => {
  const { app, claims: link } = await read(sign({ scopes: ['conversations:read', 'conversations:write'] }))
  assert.is(
    await refusal(beginFlow({ app, claims: link, flowId: 'f', kind: 'lease', runtime })),
    '403 Forbidden scope: conversations:write',
  )
  const other = { ...link, scopes: [], provider: 'nobody' }
  assert.is(
    await refusal(beginFlow({ app, claims: other, flowId: 'f', kind: 'lease', runtime })),
    '400 Unknown provider',
  )
  assert.is(
    await refusal(beginFlow({ app, claims: { ...link, scopes: [] }, flowId: 'f', kind: 'lease', runtime })),
    'accepted',
  )
})

test.run()
