import { createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookEvent } from './events.ts'
import { parseSignatureHeader, type SignatureHeader } from './signature-header.ts'
import { isCutOff } from './unfinished-json.ts'
import { WebhookVerificationError } from './webhook-error.ts'

export type VerifyWebhookOptions = {
  /** The request's body exactly as it came, before any parsing. */
  rawBody: string | Uint8Array
  /** Value of the `X-Service-Signature` header. */
  signature: string | readonly string[] | null | undefined
  /** The webhook secret, or several while it is being rotated; the UTF-8 bytes are the HMAC key. */
  secret: string | readonly string[]
  /** How far the signature's time may be away from `now`, either way; default 300. */
  toleranceSeconds?: number
  /** The present moment, in milliseconds or as a Date; default is the system's clock. */
  now?: number | Date
}

const DEFAULT_TOLERANCE_SECONDS = 300

/** @throws TypeError when there is no secret: that is the receiver's own mistake, not the sender's. */
export function listSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret
  const complete = Array.isArray(secrets) && secrets.every((one) => typeof one === 'string' && one !== '')
  if (!complete || secrets.length === 0) throw new TypeError('secret must be a non-empty string or a list of them')
  return secrets
}

function matches(header: SignatureHeader, body: Uint8Array, secrets: readonly string[]): boolean {
  let found = false
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(`${header.time}.`).update(body).digest()
    // Every pair is compared, so the time taken does not tell which one matched.
    for (const signature of header.signatures) found = timingSafeEqual(expected, signature) || found
  }
  return found
}

function parse(body: Uint8Array): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)) }
  } catch {
    return undefined
  }
}

/** What `JSON.stringify` makes of the value; undefined for a value nested too deeply for it. */
function serialiseAnew(value: unknown): Buffer | undefined {
  try {
    return Buffer.from(JSON.stringify(value))
  } catch {
    return undefined
  }
}

/** Explains a signature that did not match. Nothing found out here makes the body trusted. */
function explainMismatch(header: SignatureHeader, body: Uint8Array, secrets: readonly string[]) {
  const parsed = parse(body)
  const again = parsed && serialiseAnew(parsed.value)
  if (again && matches(header, again, secrets)) {
    const message = 'The body was serialised anew: verify the bytes as they came, before any parsing'
    return new WebhookVerificationError('not-raw-body', message)
  }
  if (!parsed && isCutOff(Buffer.from(body).toString())) {
    return new WebhookVerificationError('truncated-body', 'The body is empty or cut off')
  }
  const count = header.signatures.length
  const message = count === 1 ? 'The signature does not match' : `None of the ${count} signatures matches`
  return new WebhookVerificationError('no-match', `${message}: the body or time was altered, or the secret is another`)
}

function checkTime(header: SignatureHeader, now: number, toleranceSeconds: number) {
  const age = now / 1000 - Number(header.time)
  if (age > toleranceSeconds) {
    throw new WebhookVerificationError('stale', `The signature is older than ${toleranceSeconds} s`)
  }
  if (-age > toleranceSeconds) {
    throw new WebhookVerificationError('future', `The signature is more than ${toleranceSeconds} s ahead of this clock`)
  }
}

function readEvent(body: Uint8Array): WebhookEvent {
  const parsed = parse(body)
  if (!parsed) throw new WebhookVerificationError('invalid-json', 'The body is not JSON in UTF-8')
  const { event, payload, deliveryId } = Object(parsed.value) as Record<string, unknown>
  const isPayload = typeof payload === 'object' && payload !== null && !Array.isArray(payload)
  if (typeof event !== 'string' || typeof deliveryId !== 'string' || deliveryId === '' || !isPayload) {
    throw new WebhookVerificationError('not-an-event', 'The body lacks event, payload or deliveryId')
  }
  return parsed.value as WebhookEvent
}

/**
 * Verifies the signature of a webhook and returns its event. One matching `v1` with any of the secrets is enough.
 * Drop duplicates by `deliveryId` afterwards: retries of one delivery keep it.
 *
 * @throws WebhookVerificationError whose `reason` says what is wrong
 * @throws TypeError when `secret`, `toleranceSeconds` or `now` is unusable
 */
export function verifyWebhook(options: VerifyWebhookOptions): WebhookEvent {
  const { rawBody, signature, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = options
  const secrets = listSecrets(options.secret)
  const now = Number(options.now ?? Date.now())
  if (!Number.isFinite(now)) throw new TypeError('now must be a moment in milliseconds or a valid Date')
  if (!(toleranceSeconds >= 0)) throw new TypeError('toleranceSeconds must be zero or more')
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    const message = 'The body was parsed already: give the text or the bytes as they came'
    throw new WebhookVerificationError('not-raw-body', message)
  }
  const header = parseSignatureHeader(signature)
  const body = typeof rawBody === 'string' ? Buffer.from(rawBody) : rawBody
  if (!matches(header, body, secrets)) throw explainMismatch(header, body, secrets)
  checkTime(header, now, toleranceSeconds)
  return readEvent(body)
}
