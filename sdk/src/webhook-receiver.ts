import { type DeliveryMemory, deliveryMemory } from './delivery-memory.ts'
import type { WebhookEvent } from './events.ts'
import { listSecrets, verifyWebhook } from './verify-webhook.ts'
import { WebhookVerificationError } from './webhook-error.ts'

export const SIGNATURE_HEADER = 'x-service-signature'

export type RejectedWebhook = { rawBody: string | Uint8Array; signature: string | undefined }

export type WebhookHandlerOptions = {
  /** The webhook secret, or several while it is being rotated. */
  secret: string | readonly string[]
  /**
   * Takes one event. The answer waits for it and must come within 10 seconds, so store the event here and work on it later.
   * When it throws, the delivery is forgotten and the error goes to your framework: its 500 makes the service try again.
   */
  onEvent: (event: WebhookEvent) => unknown
  /** Called for every webhook that is refused, for your log; the sender gets 400, or 413 for a body that is too large. */
  onRejected?: (error: WebhookVerificationError, webhook: RejectedWebhook) => unknown
  /** Drops duplicates by `deliveryId`; default is `deliveryMemory()`, which knows this process's deliveries only. */
  memory?: DeliveryMemory
  /** How far the signature's time may be away from this machine's, either way; default 300. */
  toleranceSeconds?: number
  /** Default 1 MiB. */
  maxBodyBytes?: number
  /** The present moment in milliseconds; default is the system's clock. */
  now?: () => number
}

export type WebhookAnswer = {
  status: 200 | 400 | 413
  body: { ok: true; duplicate?: true } | { error: string; reason: string }
}

export const DEFAULT_MAX_BODY_BYTES = 1_048_576

const accepted: WebhookAnswer = { status: 200, body: { ok: true } }
const duplicate: WebhookAnswer = { status: 200, body: { ok: true, duplicate: true } }

type Receiver = {
  /** Verifies and hands on one webhook. Throws what `onEvent`, `onRejected` or the memory throws. */
  receive(webhook: RejectedWebhook): Promise<WebhookAnswer>
  /** Answers a webhook that is refused. */
  reject(error: WebhookVerificationError, webhook: RejectedWebhook): Promise<WebhookAnswer>
}

/** What the handlers of all frameworks share. */
export function createReceiver(options: WebhookHandlerOptions): Receiver {
  const { onEvent, onRejected, memory = deliveryMemory(), toleranceSeconds = 300, now = Date.now } = options
  const secret = listSecrets(options.secret)
  const inFlight = new Map<string, Promise<WebhookAnswer>>()

  async function handle(event: WebhookEvent): Promise<WebhookAnswer> {
    if (!(await memory.remember(event.deliveryId))) return duplicate
    try {
      await onEvent(event)
      return accepted
    } catch (error) {
      await memory.forget(event.deliveryId)
      throw error
    }
  }

  async function reject(error: WebhookVerificationError, webhook: RejectedWebhook): Promise<WebhookAnswer> {
    await onRejected?.(error, webhook)
    return { status: error.reason === 'too-large' ? 413 : 400, body: { error: error.message, reason: error.reason } }
  }

  async function receive(webhook: RejectedWebhook): Promise<WebhookAnswer> {
    let event: WebhookEvent
    try {
      event = verifyWebhook({ ...webhook, secret, toleranceSeconds, now: now() })
    } catch (error) {
      if (error instanceof WebhookVerificationError) return reject(error, webhook)
      throw error
    }
    // A retry that comes while the first try is still being handled shares its outcome; told "duplicate", the service
    // would take the delivery for done although the handling may yet fail.
    const running = inFlight.get(event.deliveryId)
    if (running) return running
    const outcome = handle(event).finally(() => inFlight.delete(event.deliveryId))
    inFlight.set(event.deliveryId, outcome)
    return outcome
  }

  return { receive, reject }
}

/** The receiver itself has spoilt the body; `advice` says what to do about it. */
export function alreadyParsed(advice: string): WebhookVerificationError {
  return new WebhookVerificationError('not-raw-body', `The body was read before this handler: ${advice}`)
}

export function tooLarge(maxBodyBytes: number): WebhookVerificationError {
  return new WebhookVerificationError('too-large', `The body is larger than ${maxBodyBytes} bytes`)
}
