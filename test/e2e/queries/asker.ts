import { apiEndpoints } from '../../../wire/api-endpoints.ts'
import type { Endpoint } from '../../../wire/endpoint.ts'
import { opsEndpoints } from '../../../wire/ops-endpoints.ts'

const TABLES = { api: apiEndpoints, ops: opsEndpoints } as const
type Name = { [T in keyof typeof TABLES]: `${T}.${keyof (typeof TABLES)[T] & string}` }[keyof typeof TABLES]

interface Asked {
  params?: Record<string, string>
  query?: Record<string, string>
  /** A text goes as it is. */
  body?: unknown
  /** It is refused, and that is all right. */
  refused?: true
}

export interface Asker {
  /** Asks an endpoint by its name in the tables; returns the JSON that it answers. Throws where that is an error. */
  ask(name: Name, asked?: Asked): Promise<Record<string, unknown>>
  /** Endpoints that were not asked yet. */
  unasked(): string[]
}

/** Asks every endpoint with the key that it wants. */
export function createAsker({
  baseUrl,
  keys,
  during,
}: {
  baseUrl: string
  keys: { apiKey: string; operatorKey: string }
  during: (step: string) => void
}): Asker {
  const endpoints = new Map<string, Endpoint>(
    Object.entries(TABLES).flatMap(([table, all]) =>
      Object.entries(all).map(([name, endpoint]) => [`${table}.${name}`, endpoint] as const),
    ),
  )
  const unasked = new Set(endpoints.keys())
  return {
    unasked: () => [...unasked],
    ask: async (name, { params = {}, query = {}, body, refused } = {}) => {
      const { method, path, authentication } = endpoints.get(name) as Endpoint
      during(`${method.toUpperCase()} ${path}`)
      unasked.delete(name)
      const address = path.replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(params[param] ?? ''))
      const key = authentication.by in keys ? keys[authentication.by as keyof typeof keys] : undefined
      const response = await fetch(`${baseUrl}${address}?${new URLSearchParams(query)}`, {
        method: method.toUpperCase(),
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok && !refused) throw new Error(`${name}: ${response.status} ${text}`)
      return JSON.parse(text) as Record<string, unknown>
    },
  }
}
