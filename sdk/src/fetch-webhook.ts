import { WebhookVerificationError } from './webhook-error.ts'
import {
  alreadyParsed,
  createReceiver,
  DEFAULT_MAX_BODY_BYTES,
  SIGNATURE_HEADER,
  tooLarge,
  type WebhookHandlerOptions,
} from './webhook-receiver.ts'

async function readRawBody(request: Request, maxBodyBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) throw alreadyParsed('pass the request on before its json() or text() is called')
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > maxBodyBytes) {
      await reader.cancel()
      throw tooLarge(maxBodyBytes)
    }
    chunks.push(value)
  }
  return Buffer.concat(chunks)
}

/**
 * A handler for everything that speaks `Request` and `Response` (Hono, Next.js route handlers, Remix, Bun, Deno):
 * `export const POST = fetchWebhook({ secret, onEvent })`. Answers as `expressWebhook` does, 405 for another method than
 * POST; an error of `onEvent`, or a body that was already used, rejects the promise.
 *
 * @throws TypeError at once when the secret is missing
 */
export function fetchWebhook(options: WebhookHandlerOptions): (request: Request) => Promise<Response> {
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options
  const receiver = createReceiver(options)

  return async (request) => {
    if (request.method !== 'POST') {
      return Response.json({ error: 'Method not allowed' }, { status: 405, headers: { allow: 'POST' } })
    }
    const signature = request.headers.get(SIGNATURE_HEADER) ?? undefined
    try {
      const rawBody = await readRawBody(request, maxBodyBytes)
      const { status, body } = await receiver.receive({ rawBody, signature })
      return Response.json(body, { status })
    } catch (error) {
      if (!(error instanceof WebhookVerificationError) || error.reason !== 'too-large') throw error
      const { status, body } = await receiver.reject(error, { rawBody: '', signature })
      return Response.json(body, { status })
    }
  }
}
