import type { AnswerOf, Endpoint } from '../wire/endpoint.ts'
import { errorAnswer } from '../wire/error.ts'
import { opsEndpoints } from '../wire/ops-endpoints.ts'

/** Long enough for a busy service; a lost one is named well within 20 seconds. */
const ANSWER_MS = 8_000
/** Purges and syncs wait for work that others do. */
const WAITING_ANSWER_MS = 60_000

type Ops = typeof opsEndpoints

/** `lost`: nothing that answers as the service does; `refused`: the key is not taken; `failed`: the service says no. */
export class OpsError extends Error {
  override name = 'OpsError'
  readonly kind: 'lost' | 'refused' | 'failed'
  constructor(kind: OpsError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

interface Asked {
  params?: Record<string, string>
  query?: Record<string, string | number | undefined>
  body?: unknown
  signal?: AbortSignal
}

/** Asks one endpoint of `/ops` by its name in the table. Throws `OpsError`, and the signal's reason. */
export type Client = <N extends keyof Ops>(name: N, asked?: Asked) => Promise<AnswerOf<Ops[N]>>

export const createClient =
  ({ url, key }: { url: string; key: string }): Client =>
  async (name, { params = {}, query = {}, body, signal } = {}) => {
    const endpoint: Endpoint = opsEndpoints[name]
    const path = endpoint.path
      .slice('/ops'.length)
      .replace(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(params[parameter] ?? ''))
    const address = new URL(`${url}${path}`)
    for (const [field, value] of Object.entries(query)) {
      if (value !== undefined) address.searchParams.set(field, String(value))
    }
    const late = AbortSignal.timeout(endpoint.waits ? WAITING_ANSWER_MS : ANSWER_MS)
    const { status, json } = await send(address, {
      method: endpoint.method.toUpperCase(),
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, late]) : late,
    }).catch((error: unknown) => {
      if (signal?.aborted) throw signal.reason
      throw new OpsError('lost', whyLost(error))
    })
    const shape = endpoint.answers[status]?.shape
    // Lists are there, whatever they hold.
    if (status === 404 && endpoint.method === 'get' && !endpoint.params)
      throw new OpsError('lost', 'there is no /ops at this address (404)')
    if (!shape) throw unexpected(status, json)
    const parsed = shape.safeParse(json)
    if (!parsed.success) throw new OpsError('failed', 'its answer is not as expected: is this program of its version?')
    return parsed.data as AnswerOf<Ops[typeof name]>
  }

async function send(address: URL, options: RequestInit): Promise<{ status: number; json: unknown }> {
  const response = await fetch(address, options)
  const text = await response.text()
  try {
    return { status: response.status, json: JSON.parse(text) }
  } catch {
    return { status: response.status, json: undefined }
  }
}

function unexpected(status: number, json: unknown): OpsError {
  const told = errorAnswer.safeParse(json)
  if (!told.success) return new OpsError('lost', `something else answers at this address (${status})`)
  if (status === 401) return new OpsError('refused', told.data.error)
  return new OpsError(status >= 500 ? 'lost' : 'failed', told.data.error)
}

function whyLost(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it does not answer'
  const { cause } = error as { cause?: { code?: string; message?: string } }
  return `it cannot be reached (${cause?.code ?? cause?.message ?? String(error)})`
}
