import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  isKnownEvent,
  type VerifyWebhookOptions,
  verifyWebhook,
  WebhookVerificationError,
} from '../../sdk/src/index.ts'
import { eventBody, SECRET, sign } from './support/webhook.ts'

type Vector = {
  name: string
  secrets: string[]
  toleranceSeconds: number
  now: number
  signature: string | null
  body?: string
  bodyBase64?: string
  expect: string
  diagnosis?: string
  deliveryId?: string
}

const file = new URL('../../sdk/vectors/webhook-signature.json', import.meta.url)
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }
const now = 1_790_000_000_000
const body = eventBody('d-1')
const valid = { rawBody: body, signature: sign(body, { at: now }), secret: SECRET, now }

function outcome(options: VerifyWebhookOptions): string {
  try {
    verifyWebhook(options)
    return 'valid'
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason
    throw error
  }
}

for (const vector of vectors) {
  test(`vector: ${vector.name}`, () => {
    const { signature, secrets: secret, toleranceSeconds } = vector
    const rawBody = vector.body ?? Buffer.from(vector.bodyBase64 ?? '', 'base64')
    const options = { rawBody, signature, secret, toleranceSeconds, now: vector.now * 1000 }
    assert.is(outcome(options), vector.diagnosis ?? vector.expect)
    assert.is(outcome({ ...options, rawBody: Buffer.from(rawBody) }), vector.diagnosis ?? vector.expect)
    if (vector.deliveryId) assert.is(verifyWebhook(options).deliveryId, vector.deliveryId)
  })
}

test('returns the event, typed by its name', () => {
  const event = verifyWebhook({ ...valid, now: new Date(now) })
  assert.equal(event, JSON.parse(body))
  assert.ok(isKnownEvent(event) && event.event === 'data.imported' && event.payload.userRef === 'user-1')
  assert.not(isKnownEvent({ event: 'toString', payload: {}, deliveryId: 'd' }))
})

test('says that a parsed body is not the raw one', () => {
  for (const rawBody of [JSON.parse(body), null, undefined, 7, [1, 2]]) {
    assert.is(outcome({ ...valid, rawBody: rawBody as string }), 'not-raw-body')
  }
})

test('takes the header as a list, as node gives repeated ones', () => {
  assert.is(outcome({ ...valid, signature: [valid.signature, valid.signature] }), 'valid')
  assert.is(outcome({ ...valid, signature: [] }), 'missing-signature')
  assert.is(outcome({ ...valid, signature: undefined }), 'missing-signature')
})

test("tells the receiver's own mistakes apart from the sender's", () => {
  for (const change of [{ secret: '' }, { secret: [] }, { secret: [SECRET, ''] }, { toleranceSeconds: -1 }]) {
    assert.throws(
      () => verifyWebhook({ ...valid, ...change }),
      (error: Error) => error instanceof TypeError,
    )
  }
  assert.throws(
    () => verifyWebhook({ ...valid, now: Number.NaN }),
    (error: Error) => error instanceof TypeError,
  )
  assert.throws(() => verifyWebhook({ ...valid, secret: undefined as unknown as string }), /secret/)
})

test('a body nested too deeply for a serialiser is refused like any other', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  assert.is(outcome({ ...valid, rawBody: deep }), 'no-match')
})

test('accepts every event that is rightly signed, whatever it holds', () => {
  const payloads = fc.dictionary(fc.string(), fc.jsonValue())
  fc.assert(
    fc.property(fc.string(), payloads, fc.uuid(), fc.string({ minLength: 1 }), (event, payload, deliveryId, secret) => {
      const rawBody = JSON.stringify({ event, payload, deliveryId })
      const signature = sign(rawBody, { secret, at: now })
      const made = verifyWebhook({ rawBody, signature, secret: ['another', secret], now })
      assert.equal(JSON.stringify(made), JSON.stringify(JSON.parse(rawBody)))
    }),
  )
})

test('refuses every change of a byte, of the time, of a digit', () => {
  const bytes = Buffer.from(body)
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (index, change) => {
      const rawBody = Buffer.from(bytes)
      rawBody[index] = (rawBody[index] ?? 0) ^ change
      assert.is.not(outcome({ ...valid, rawBody }), 'valid')
    }),
  )
  fc.assert(
    fc.property(fc.nat(valid.signature.length - 1), fc.constantFrom(...'0123456789abcdef=,tv'), (index, character) => {
      const signature = `${valid.signature.slice(0, index)}${character}${valid.signature.slice(index + 1)}`
      if (signature === valid.signature) return
      assert.is.not(outcome({ ...valid, signature }), 'valid')
    }),
  )
})

test('refuses any header and any body with a reason, never with another error', () => {
  const parts = fc.oneof(fc.string(), fc.constantFrom('t=1790000000', 'v1=', 'v1', ',', '=', `v1=${'a'.repeat(64)}`))
  fc.assert(
    fc.property(fc.array(parts), fc.oneof(fc.string(), fc.uint8Array()), (header, rawBody) => {
      assert.is.not(outcome({ ...valid, rawBody, signature: header.join(',') }), 'valid')
    }),
  )
})

test('the message of an error holds neither the secret nor the body', () => {
  try {
    verifyWebhook({ ...valid, rawBody: `${body}x` })
    assert.unreachable()
  } catch (error) {
    assert.not.match(String(error), SECRET)
    assert.not.match(String(error), 'user-1')
  }
})

test.run()
