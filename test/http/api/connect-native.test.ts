import { randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { unseal } from '../../../core/envelope.ts'
import { ServiceError } from '../../../core/errors.ts'
import { type Command, Commands } from '../../../schemas/command/command.ts'
import { CREDENTIAL_PURPOSE, type Credential } from '../../../schemas/secrets.ts'
import { Captures, idsOfCapture } from '../../../schemas/user/capture.ts'
import { ConsumedLinks } from '../../../schemas/user/consumed-link.ts'
import { Users } from '../../../schemas/user/user.ts'
import { signLink } from '../../../sdk/src/sign-link.ts'
import type { NativeStartAnswer } from '../../../wire/connect-native.ts'
import { type RunningSite, startSite } from '../../provider/sandbox.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { until } from '../../support/until.ts'

let site: RunningSite
let world: HttpWorld

test.before(async () => {
  site = await startSite()
  world = await startHttpWorld({ env: { PROVIDER_SITE: site.url } })
})
test.after(async () => {
  await world.stop()
  await site.stop()
})

interface Captured {
  status?: string
  connectionId?: string
  reason?: string
  error?: string
}

const native = <T = Captured>(body: unknown) => world.ask<T>('/api/connect-native', { method: 'POST', key: null, body })
const link = (more: object = {}) =>
  signLink({ appId: 'app-one', appSecret: world.one.appSecret, userRef: 'phone', baseUrl: world.url, ...more }).token
const begin = async (more: object = {}) =>
  (await native<NativeStartAnswer>({ action: 'start', token: link(), ...more })).body
const args = ({ captureNonce, clientSecret }: NativeStartAnswer) => ({
  action: 'capture',
  captureNonce,
  clientSecret,
  sessionToken: 'cookie-value',
})

const connectCommand = (captureNonce: string) =>
  until('the command', () => Commands.findById(idsOfCapture(captureNonce).commandId).lean<Command<'connect'>>())
const finishConnect = (command: Command<'connect'>) =>
  Commands.updateOne(
    { _id: command._id },
    { $set: { state: 'done', result: { connectionId: command.args.connectionId } }, $unset: { claimableAt: 1 } },
  )

test('start answers what the app needs and consumes the link', async () => {
  const token = link()
  const device = { platform: 'iOS', model: 'x'.repeat(200), other: 'ignored' }
  const { status, body } = await native<NativeStartAnswer>({ action: 'start', token, device })
  assert.is(status, 200)
  const { captureNonce, clientSecret, ...rest } = body
  assert.match(captureNonce, /^[0-9a-f-]{36}$/)
  assert.ok(clientSecret.length >= 43)
  assert.equal(rest, {
    provider: 'sandbox-assistant',
    loginUrl: `${site.url}/login`,
    cookieDomain: '127.0.0.1',
    cookieName: 'session-token',
    sessionUrl: `${site.url}/api/auth/session`,
    expiresInSeconds: 3600,
  })
  const stored = await Captures.findById(captureNonce).lean()
  assert.equal(stored?.device, { platform: 'iOS', model: 'x'.repeat(80) })
  assert.not.ok(JSON.stringify(stored).includes(clientSecret))
  assert.is((await ConsumedLinks.findOne({ flowId: captureNonce }).lean())?.outbox[0]?.event, 'connect.started')
  assert.is(await Users.countDocuments({ userRef: 'phone' }), 1)
  const again = await native({ action: 'start', token })
  assert.equal([again.status, again.body], [403, { error: 'This link has already been used' }])
})

test('every refusal has its status and message', async () => {
  const started = await begin()
  const { captureNonce, clientSecret } = started
  const good = args(started)
  const cases: [unknown, number, string][] = [
    ['{', 400, 'Invalid JSON body'],
    ['', 400, 'Invalid JSON body'],
    [{}, 400, 'Unknown action'],
    [{ action: 'stop' }, 400, 'Unknown action'],
    [{ action: ['start'] }, 400, 'Unknown action'],
    [{ action: 'start' }, 400, 'Missing token'],
    [{ action: 'start', token: '' }, 400, 'Missing token'],
    [{ action: 'start', token: 'abc' }, 400, 'Malformed token'],
    [{ action: 'start', token: 7 }, 400, 'Malformed token'],
    [{ action: 'start', token: link({ purpose: 'manage' }) }, 400, "Token purpose must be 'connect'"],
    [{ action: 'start', token: link({ appSecret: 'z'.repeat(40) }) }, 401, 'Invalid token: bad signature'],
    [{ action: 'start', token: link({ now: Date.now() - 3_600_000 }) }, 401, 'Invalid token: expired'],
    [
      { action: 'start', token: link({ scopes: ['conversations:write'] }) },
      403,
      'Forbidden scope: conversations:write',
    ],
    [{ action: 'start', token: link({ provider: 'none' }) }, 400, 'Unknown provider'],
    [{ action: 'start', token: link(), device: 'phone' }, 400, 'Invalid device parameter: must be an object'],
    [{ action: 'start', token: link(), device: { model: 1 } }, 400, 'Invalid device.model parameter: must be a string'],
    [{ action: 'capture' }, 400, 'Missing captureNonce'],
    [{ action: 'capture', captureNonce }, 400, 'Missing clientSecret'],
    [{ action: 'capture', captureNonce, clientSecret }, 400, 'Missing sessionToken'],
    [{ ...good, captureNonce: { $ne: '' } }, 400, 'Invalid captureNonce parameter: must be a string'],
    [{ ...good, sessionToken: 'a; b' }, 400, 'Invalid sessionToken parameter: is no cookie value'],
    [{ ...good, captureNonce: randomUUID() }, 403, 'Invalid or expired capture nonce'],
    [{ ...good, captureNonce: 'x' }, 403, 'Invalid or expired capture nonce'],
    [{ ...good, clientSecret: `${clientSecret}x` }, 403, 'Invalid or expired capture nonce'],
  ]
  for (const [body, status, error] of cases) {
    const answer = await native(body)
    assert.equal([answer.status, answer.body], [status, { error }], JSON.stringify(body))
  }
  assert.is((await world.ask('/api/connect-native', { key: null })).headers.get('allow'), 'POST')
})

/** A whole capture of somebody who has signed in at the provider. */
async function signedIn(started: NativeStartAnswer, email: string) {
  const sessionToken = await site.signIn(email)
  const session = await site.client({ cookie: sessionToken }).session()
  if (!session.usable) throw new Error(session.reason)
  const providerAccountId = session.account.id
  return { ...args(started), sessionToken, accessToken: session.accessToken, providerAccountId }
}

const credentialOf = ({ args: { key, credential, connectionId } }: Command<'connect'>): Credential => {
  const bytes = (value: unknown) =>
    Buffer.isBuffer(value) ? value : Buffer.from((value as { buffer: Uint8Array }).buffer)
  const dataKey = world.runtime.keyring.unwrap({ ...key, bytes: bytes(key.bytes) })
  const text = unseal(dataKey, { owner: connectionId, purpose: CREDENTIAL_PURPOSE }, bytes(credential)).toString()
  return JSON.parse(text) as Credential
}

test('waiting while there is no access token, then connected exactly once under parallel requests', async () => {
  const started = await begin({ device: { platform: 'Android' } })
  const waiting = await native(args(started))
  assert.equal([waiting.status, waiting.body.status], [200, 'waiting'])
  assert.ok(waiting.body.reason)
  const email = 'Someone@Example.test'
  const whole = { ...(await signedIn(started, 'someone@example.test')), providerAccountEmail: email }
  const asked = Array.from({ length: 10 }, () => native(whole))
  const command = await connectCommand(started.captureNonce)
  assert.equal(
    [(await native(whole)).body.status, (await native(whole)).status],
    ['waiting', 200],
    'a retry while the answer is being worked out',
  )
  await finishConnect(command)
  const answers = await Promise.all(asked)
  const connected = answers.filter(({ body }) => body.status === 'connected')
  assert.equal(
    connected.map(({ status, body }) => [status, body]),
    [[200, { status: 'connected', connectionId: command.args.connectionId }]],
  )
  const others = answers.filter((each) => !connected.includes(each))
  assert.ok(others.every(({ status, body }) => status === 403 || (status === 200 && body.status === 'waiting')))
  assert.is((await native(whole)).status, 403)
  assert.is(await Commands.countDocuments({ target: command.target }), 1)

  const { sessionToken: cookie, accessToken, providerAccountId: id } = whole
  assert.equal(credentialOf(command).account, { id })
  assert.is(credentialOf(command).cookie, cookie)
  assert.ok(accessToken && credentialOf(command).accessToken)
  assert.match(command.args.emailHash ?? '', /^[0-9a-f]{64}$/)
  assert.not.ok(JSON.stringify(command).toLowerCase().includes('someone@'))
  assert.equal(command.args.device, { platform: 'Android' })
  assert.equal([command.by.kind, command.args.userRef], ['capture', 'phone'])
})

test('an invented session takes no account, whatever the caller says', async () => {
  const started = await begin()
  const owner = await signedIn(started, 'owner@example.test')
  const invented = await native({ ...owner, sessionToken: 'invented', accessToken: 'invented' })
  assert.equal([invented.status, invented.body.status], [200, 'waiting'])
  assert.ok(invented.body.reason)
  assert.is(await Commands.exists({ _id: idsOfCapture(started.captureNonce).commandId }), null)
  const asked = native(owner)
  await finishConnect(await connectCommand(started.captureNonce))
  assert.is((await asked).body.status, 'connected', 'nothing was spent')
})

test('an account other than that of the session is refused, and nothing is spent', async () => {
  const started = await begin()
  const whole = await signedIn(started, 'mine@example.test')
  const { status, body } = await native({ ...whole, providerAccountId: 'somebody-else' })
  const error = 'Invalid providerAccountId parameter: the session is of another account'
  assert.equal([status, body], [400, { error }])
  assert.is(await Commands.exists({ _id: idsOfCapture(started.captureNonce).commandId }), null)
  const asked = native(whole)
  await finishConnect(await connectCommand(started.captureNonce))
  assert.is((await asked).body.status, 'connected')
})

test('without an account the session says whose it is, and with the cookie that the provider gave it last', async () => {
  const started = await begin()
  const account = 'rotated@example.test'
  const { providerAccountId, ...whole } = await signedIn(started, account)
  await site.control({ action: 'rotate', account })
  const asked = native(whole)
  const command = await connectCommand(started.captureNonce)
  await finishConnect(command)
  assert.is((await asked).body.status, 'connected')
  assert.ok(command.args.emailHash)
  const { cookie, account: stored } = credentialOf(command)
  assert.equal(stored, { id: providerAccountId })
  assert.is.not(cookie, whole.sessionToken)
  assert.ok((await site.client({ cookie }).session()).usable)
})

test('what the provider answered is not asked for twice: a caller that left finds its connection', async () => {
  const started = await begin()
  const account = 'left@example.test'
  const whole = await signedIn(started, account)
  await site.control({ action: 'rotate', account })
  const leaving = new AbortController()
  const left = fetch(`${world.url}/api/connect-native`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(whole),
    signal: leaving.signal,
  }).catch(() => undefined)
  const command = await connectCommand(started.captureNonce)
  leaving.abort()
  await left
  await until('the capture to be free', async () => !(await Captures.findById(started.captureNonce).lean())?.takenUntil)
  const asked = native(whole)
  await finishConnect(command)
  assert.equal((await asked).body, { status: 'connected', connectionId: command.args.connectionId })
})

test('a provider that cannot be asked is waited for', async () => {
  const started = await begin()
  const account = 'limits@example.test'
  const whole = await signedIn(started, account)
  await site.control({ action: 'fail', account, mode: 'status', status: 429, count: 1, path: '/api/auth/session' })
  const { status, body } = await native(whole)
  assert.equal([status, body.status], [200, 'waiting'])
})

test('an account that another user holds spends the credential', async () => {
  const started = await begin()
  const body = await signedIn(started, 'taken@example.test')
  const asked = native(body)
  const command = await connectCommand(started.captureNonce)
  const failure = { code: 'account_held', message: new ServiceError('account_held').message }
  await Commands.updateOne({ _id: command._id }, { $set: { state: 'failed', failure } })
  const { status, body: answer } = await asked
  assert.is(status, 409)
  assert.match(answer.error ?? '', /already connected to another user of this app.*new link is needed/)
  assert.is((await native(body)).status, 403)
})

test('after an hour it is over', async () => {
  const started = await begin()
  await Captures.updateOne({ _id: started.captureNonce }, { $set: { expiresAt: new Date() } })
  const answer = await native(args(started))
  assert.equal([answer.status, answer.body], [403, { error: 'Invalid or expired capture nonce' }])
})

test('a capture whose process died is taken up by the next request', async () => {
  const started = await begin()
  await Captures.updateOne({ _id: started.captureNonce }, { $set: { takenUntil: new Date(Date.now() + 60_000) } })
  const body = await signedIn(started, 'died@example.test')
  assert.is((await native(body)).body.status, 'waiting')
  await Captures.updateOne({ _id: started.captureNonce }, { $set: { takenUntil: new Date() } })
  const asked = native(body)
  await finishConnect(await connectCommand(started.captureNonce))
  assert.is((await asked).body.status, 'connected')
})

test.run()
