import type { z } from 'zod'
import { ERRORS, type ErrorCode } from '../../core/errors.ts'
import { errorAnswer } from '../../wire/error.ts'
import { EVENT_NAMES, type EventName, eventPayloads } from '../../wire/events.ts'
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts'
import { OPERATIONS, type Operation } from './operations.ts'

/** docs/behaviour.md, Versioning */
export const API_VERSION = '2026-09-30'

const header = (description: string, schema: JsonSchema) => ({ description, schema })
const HEADERS = {
  'X-Request-Id': header('Names the request in the service’s logs', { type: 'string' }),
  'RateLimit-Limit': header('Requests a minute', { type: 'integer' }),
  'RateLimit-Remaining': header('Requests left in this minute', { type: 'integer' }),
  'RateLimit-Reset': header('Unix time at which the next minute begins', { type: 'integer' }),
  'Retry-After': header('Seconds to wait', { type: 'integer' }),
  ETag: header('Send it back as If-None-Match', { type: 'string' }),
}
type HeaderName = keyof typeof HEADERS

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })
const headersOf = (names: HeaderName[]) => Object.fromEntries(names.map((name) => [name, ref('headers', name)]))
const json = (schema: JsonSchema, examples?: Record<string, unknown>) => ({
  'application/json': { schema, ...(examples && { examples }) },
})

/** The API description: OpenAPI 3.1, made of the shapes that validate requests. */
export function openApiDocument({ baseUrl }: { baseUrl: string }) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of OPERATIONS) {
    paths[operation.template] = { ...paths[operation.template], [operation.method]: describe(operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Conversation Connection Service',
      version: API_VERSION,
      description: `Connects end users’ AI-assistant accounts to partner applications. Guide: ${baseUrl}/docs`,
    },
    servers: [{ url: baseUrl }],
    paths,
    webhooks: Object.fromEntries(
      EVENT_NAMES.filter((event) => event !== 'test.event').map((event) => [event, { post: describeEvent(event) }]),
    ),
    components: {
      schemas: { Error: jsonSchemaOf(errorAnswer) },
      headers: HEADERS,
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the app; it starts with `ccs_`' },
      },
    },
  }
}

function describe(operation: Operation) {
  const { id, summary, description, authentication, rateLimited, tagged, query, params, answers } = operation
  const always: HeaderName[] = ['X-Request-Id', ...(rateLimited ? LIMITED : [])]
  const successes = Object.entries(answers).map(([status, { description: meaning, shape }]) => [
    status,
    {
      description: meaning,
      headers: headersOf([...always, ...(tagged ? ['ETag' as const] : [])]),
      content: json(jsonSchemaOf(shape)),
    },
  ])
  const unchanged = {
    description: 'What If-None-Match names is still the same',
    headers: headersOf([...always, 'ETag']),
  }
  return {
    operationId: id,
    summary,
    description,
    security: authentication.by === 'apiKey' ? [{ apiKey: [] }] : [],
    parameters: [...parametersOf('path', params), ...parametersOf('query', query)],
    ...bodyOf(operation),
    responses: {
      ...Object.fromEntries(successes),
      ...(tagged && { 304: unchanged }),
      ...errorsOf([...operation.errors, 'internal'], always),
    },
  }
}

const LIMITED: HeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

function parametersOf(place: 'query' | 'path', shape: z.ZodObject | undefined) {
  if (!shape) return []
  const { properties = {}, required = [] } = jsonSchemaOf(shape) as {
    properties?: Record<string, JsonSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }))
}

function bodyOf({ body, upload }: Operation) {
  if (body) return { requestBody: { required: true, content: json(jsonSchemaOf(body)) } }
  if (!upload) return {}
  const file = { type: 'string', format: 'binary' }
  const form = {
    type: 'object',
    properties: { connectionId: { type: 'string', format: 'uuid' }, userRef: { type: 'string' }, file },
    required: ['file'],
  }
  return {
    requestBody: {
      required: true,
      content: {
        'application/zip': { schema: file },
        'application/json': { schema: { type: 'array', items: { type: 'object' } } },
        'multipart/form-data': { schema: form },
      },
    },
  }
}

/** Statuses that are answered before the app is known carry no RateLimit headers. */
const UNCOUNTED = new Set([401, 500])

function errorsOf(codes: readonly ErrorCode[], always: HeaderName[]) {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) byStatus.set(ERRORS[code][0], [...(byStatus.get(ERRORS[code][0]) ?? []), code])
  const responses = [...byStatus].map(([status, group]) => {
    const headers: HeaderName[] = UNCOUNTED.has(status) ? ['X-Request-Id'] : [...always]
    if (status === 429 || status === 503) headers.push('Retry-After')
    const examples = Object.fromEntries(group.map((code) => [code, { value: { error: ERRORS[code][1] } }]))
    const description = group.map((code) => `\`${ERRORS[code][1]}\``).join(', ')
    return [status, { description, headers: headersOf(headers), content: json(ref('schemas', 'Error'), examples) }]
  })
  return Object.fromEntries(responses)
}

function describeEvent(event: EventName) {
  const shape = { type: 'object', required: ['event', 'payload', 'deliveryId'] }
  const properties = {
    event: { const: event },
    payload: jsonSchemaOf(eventPayloads[event]),
    deliveryId: { type: 'string', format: 'uuid', description: 'The same for every attempt: drop duplicates by it' },
  }
  const inHeader = (name: string, description: string, required: boolean) => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  })
  return {
    operationId: `on.${event}`,
    summary: event,
    description: 'Answer 2xx within 10 seconds; anything else is tried again, six times in all.',
    parameters: [
      inHeader('X-Service-Event', 'The event’s name', true),
      inHeader(
        'X-Service-Signature',
        '`t=<unix seconds>,v1=<hmac hex>`; absent where the app has no webhook secret',
        false,
      ),
    ],
    requestBody: { required: true, content: json({ ...shape, properties }) },
    responses: { '2XX': { description: 'Received' } },
  }
}
