import fc from 'fast-check'
import jwt from 'jsonwebtoken'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type SignLinkOptions, signLink } from '../../sdk/src/index.ts'

const appSecret = 'app-secret-of-at-least-thirty-two-bytes'
const base: SignLinkOptions = { appId: 'demo', appSecret, userRef: 'user-1', baseUrl: 'https://connect.example.com' }

test('signs a connect link with the claims of the specification', () => {
  const now = new Date('2026-09-30T12:00:00.900Z')
  const { url, token, jti, expiresAt } = signLink({ ...base, now })
  const { header, payload } = jwt.verify(token, appSecret, {
    algorithms: ['HS256'],
    complete: true,
    clockTimestamp: now.getTime() / 1000,
  })
  const iat = Date.UTC(2026, 8, 30, 12) / 1000
  assert.is(header.alg, 'HS256')
  assert.equal(payload, {
    appId: 'demo',
    userRef: 'user-1',
    scopes: ['conversations:read'],
    purpose: 'connect',
    jti,
    iat,
    exp: iat + 900,
  })
  assert.is(url, `https://connect.example.com/start?token=${token}`)
  assert.is(expiresAt.toISOString(), '2026-09-30T12:15:00.000Z')
})

test('signs a manage link with optional claims, below a path', () => {
  const { url, token } = signLink({
    ...base,
    baseUrl: 'http://127.0.0.1:4000/ccs//',
    purpose: 'manage',
    scopes: [],
    provider: 'sandbox-assistant',
    redirectUrl: 'https://partner.example.com/back?x=1',
    lifetimeSeconds: 60,
  })
  assert.is(url, `http://127.0.0.1:4000/ccs/manage?token=${token}`)
  const claims = jwt.verify(token, appSecret) as jwt.JwtPayload
  assert.equal([claims['purpose'], claims['scopes'], claims['provider']], ['manage', [], 'sandbox-assistant'])
  assert.is(claims['redirectUrl'], 'https://partner.example.com/back?x=1')
  assert.is((claims.exp ?? 0) - (claims.iat ?? 0), 60)
})

test('refuses what the service would refuse, and never shows the secret', () => {
  const wrong: [string, Record<string, unknown>][] = [
    ['appSecret', { appSecret: 'x'.repeat(31) }],
    ['appSecret', { appSecret: undefined }],
    ['appId', { appId: '' }],
    ['userRef', { userRef: '' }],
    ['userRef', { userRef: 7 }],
    ['purpose', { purpose: 'toString' }],
    ['scopes', { scopes: 'conversations:read' }],
    ['scopes', { scopes: [''] }],
    ['baseUrl', { baseUrl: 'javascript:alert(1)' }],
    ['baseUrl', { baseUrl: 'connect.example.com' }],
    ['provider', { provider: '' }],
    ['redirectUrl', { redirectUrl: '/back' }],
    ['lifetimeSeconds', { lifetimeSeconds: 901 }],
    ['lifetimeSeconds', { lifetimeSeconds: 0 }],
    ['lifetimeSeconds', { lifetimeSeconds: 1.5 }],
    ['now', { now: new Date('nonsense') }],
  ]
  for (const [name, change] of wrong) {
    const attempt = () => signLink({ ...base, ...change } as SignLinkOptions)
    assert.throws(attempt, (error: Error) => error instanceof TypeError && error.message.includes(name), name)
    assert.throws(attempt, (error: Error) => !error.message.includes('xxxx'))
  }
})

test('counts the secret in bytes, not characters', () => {
  const secret = 'é'.repeat(16)
  jwt.verify(signLink({ ...base, appSecret: secret }).token, Buffer.from(secret, 'utf8'))
})

test('carries any user reference and never repeats a link id', () => {
  const ids = new Set<string>()
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.integer({ min: 1, max: 900 }), (userRef, seconds) => {
      const { url, jti } = signLink({ ...base, userRef, lifetimeSeconds: seconds })
      const token = new URL(url).searchParams.get('token') ?? ''
      const claims = jwt.verify(token, appSecret) as jwt.JwtPayload
      assert.is(claims['userRef'], userRef)
      assert.not(ids.has(jti))
      ids.add(jti)
    }),
  )
})

test.run()
