import { CcsError } from './errors.ts'
import { parseRetryAfter } from './retry.ts'

export type RequestBody = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>

export type CallOptions = {
  method: 'GET' | 'POST'
  /** Path below the base address, with a leading slash. */
  path: string
  query?: Record<string, string | number | undefined>
  body?: RequestBody
  contentType?: string
  /** For one attempt, in milliseconds; undefined waits for as long as it takes. */
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
}

type Transport = { baseUrl: string; apiKey: string; fetch: typeof globalThis.fetch }

export type Answer = { body: unknown; headers: Headers }

function addressOf({ baseUrl }: Transport, { path, query = {} }: CallOptions): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return `${baseUrl.replace(/\/+$/, '')}${path}${search === '' ? '' : `?${search}`}`
}

/**
 * The signal of one attempt. `end` leaves nothing of it on the caller's signal, which may be as old as the caller's process: `AbortSignal.any` keeps an
 * entry there for each call.
 */
function attemptSignal({ timeoutMs, signal }: CallOptions): { signal: AbortSignal; end: () => void } {
  const attempt = new AbortController()
  const stop = () => attempt.abort(signal?.reason)
  if (signal?.aborted) stop()
  else signal?.addEventListener('abort', stop, { once: true })
  const late = () => attempt.abort(new DOMException('No answer came in time', 'TimeoutError'))
  const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs)
  return {
    signal: attempt.signal,
    end: () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    },
  }
}

function initOf(transport: Transport, call: CallOptions, signal: AbortSignal): RequestInit {
  const headers: Record<string, string> = { accept: 'application/json', authorization: `Bearer ${transport.apiKey}` }
  if (call.contentType !== undefined) headers['content-type'] = call.contentType
  // A redirect is shown as the error that it is: the API has none, and the key belongs to this address only.
  const init: RequestInit & { duplex?: 'half' } = {
    method: call.method,
    headers,
    redirect: 'manual',
    signal,
  }
  if (call.body !== undefined) init.body = call.body
  // Fetch demands this of a body whose length it does not know.
  if (call.body instanceof ReadableStream) init.duplex = 'half'
  return init
}

function refusal(response: Response, text: string): CcsError {
  const { status, headers } = response
  const said: unknown = readJson(text)?.value
  const error = typeof said === 'object' && said !== null && 'error' in said ? said.error : undefined
  const wait = status === 429 || status === 503 ? parseRetryAfter(headers.get('retry-after'), Date.now()) : undefined
  return new CcsError(typeof error === 'string' ? error : `The API answered ${status}`, {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: wait === undefined ? undefined : wait / 1000,
  })
}

function readJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/**
 * One attempt of one call.
 *
 * @throws CcsError with the answer's status, or status 0 when none came in time
 * @throws the caller's own abort reason when `signal` aborts
 */
export async function send(transport: Transport, call: CallOptions): Promise<Answer> {
  const attempt = attemptSignal(call)
  let response: Response
  let text: string
  try {
    response = await transport.fetch(addressOf(transport, call), initOf(transport, call, attempt.signal))
    text = await response.text()
  } catch (cause) {
    call.signal?.throwIfAborted()
    throw new CcsError('The API could not be reached', { status: 0, cause })
  } finally {
    attempt.end()
  }
  if (!response.ok) throw refusal(response, text)
  const body = readJson(text)
  if (!body) {
    const requestId = response.headers.get('x-request-id') ?? undefined
    throw new CcsError('The API answered something that is not JSON', { status: response.status, requestId })
  }
  return { body: body.value, headers: response.headers }
}
