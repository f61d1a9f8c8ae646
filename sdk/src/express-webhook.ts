import type { IncomingMessage, ServerResponse } from 'node:http'
import { WebhookVerificationError } from './webhook-error.ts'
import {
  alreadyParsed,
  createReceiver,
  DEFAULT_MAX_BODY_BYTES,
  SIGNATURE_HEADER,
  tooLarge,
  type WebhookAnswer,
  type WebhookHandlerOptions,
} from './webhook-receiver.ts'

/** Express's request, as far as it is used here; `rawBody` is what some serverless platforms add. */
export type ExpressRequest = IncomingMessage & { body?: unknown; rawBody?: unknown }

export type ExpressHandler = (
  request: ExpressRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

const advice = 'mount the webhook route before express.json(), or use express.raw({ type: "*/*" }) for it'

const isRaw = (body: unknown): body is string | Uint8Array => typeof body === 'string' || body instanceof Uint8Array

/** body-parser 1 leaves `{}` behind where it has parsed nothing. */
const isEmpty = (body: unknown) => typeof body === 'object' && Object.keys(body ?? {}).length === 0

async function readStream(request: IncomingMessage, maxBodyBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  // The request must outlive a refusal, or the answer could not be sent any more.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > maxBodyBytes) throw tooLarge(maxBodyBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function readRawBody(request: ExpressRequest, maxBodyBytes: number): Promise<string | Uint8Array> {
  const given = isRaw(request.rawBody) ? request.rawBody : request.body
  if (isRaw(given)) {
    if (Buffer.byteLength(given) > maxBodyBytes) throw tooLarge(maxBodyBytes)
    return given
  }
  const untouched = !request.readableDidRead && (given === undefined || isEmpty(given))
  if (!untouched) throw alreadyParsed(advice)
  if (Number(request.headers['content-length']) > maxBodyBytes) throw tooLarge(maxBodyBytes)
  return readStream(request, maxBodyBytes)
}

function answer(request: IncomingMessage, response: ServerResponse, { status, body }: WebhookAnswer) {
  response.statusCode = status
  response.setHeader('content-type', 'application/json')
  // The rest of a body that is too large is not worth reading.
  if (!request.readableEnded && status === 413) response.setHeader('connection', 'close')
  response.end(JSON.stringify(body))
}

/**
 * An Express handler: `app.post('/webhooks', expressWebhook({ secret, onEvent }))`. It reads the raw body itself, so mount
 * it before `express.json()`, or behind `express.raw()`. Answers 200 once `onEvent` is through or for a duplicate, 400
 * with the reason for what is not verified, 413 for what is too large; all other errors go to `next`, a body that a
 * parser has already consumed among them.
 *
 * @throws TypeError at once when the secret is missing
 */
export function expressWebhook(options: WebhookHandlerOptions): ExpressHandler {
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options
  const receiver = createReceiver(options)

  async function handle(request: ExpressRequest): Promise<WebhookAnswer> {
    const header = request.headers[SIGNATURE_HEADER]
    const signature = Array.isArray(header) ? header.join(',') : header
    try {
      return await receiver.receive({ rawBody: await readRawBody(request, maxBodyBytes), signature })
    } catch (error) {
      const refused = error instanceof WebhookVerificationError && error.reason === 'too-large'
      if (refused) return receiver.reject(error, { rawBody: '', signature })
      throw error
    }
  }

  return (request, response, next) => {
    handle(request).then((result) => answer(request, response, result), next)
  }
}
