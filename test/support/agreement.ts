import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { openApiDocument } from '../../http/openapi/document.ts'

interface Header {
  $ref: string
}
interface Response {
  headers?: Record<string, Header>
  content?: Record<string, { schema: object }>
}
interface Described {
  responses: Record<string, Response>
}

const description = openApiDocument({ baseUrl: 'http://127.0.0.1' })
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
const { schemas } = description.components

/** The description leaves objects open for later fields; what is answered today has no field that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  if ('$ref' in schema) return closed(schemas[String(schema.$ref).split('/').at(-1) as keyof typeof schemas])
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]))
  return 'properties' in schema && !('additionalProperties' in schema)
    ? { ...inner, additionalProperties: false }
    : inner
}

const validators = new Map<object, ReturnType<typeof ajv.compile>>()

function validatorOf(schema: object) {
  const known = validators.get(schema)
  if (known) return known
  const made = ajv.compile(closed(schema) as object)
  validators.set(schema, made)
  return made
}

function find(method: string, path: string): Described | undefined {
  const [pathname = ''] = path.split('?')
  const template = Object.keys(description.paths).find((each) =>
    new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  )
  return (description.paths[template ?? ''] as Record<string, Described> | undefined)?.[method.toLowerCase()]
}

/** Throws where an answer of the API is not as its description says. Methods and paths that it does not name are not its matter. */
export function mustAgree({
  method,
  path,
  status,
  headers,
  body,
}: {
  method: string
  path: string
  status: number
  headers: Headers
  body: unknown
}): void {
  const operation = find(method, path)
  if (!operation) return
  const response = operation.responses[status]
  if (!response) throw new Error(`${method} ${path} answers ${status}, which is not described`)
  for (const name of Object.keys(response.headers ?? {})) {
    if (!headers.has(name)) throw new Error(`${method} ${path} ${status} lacks the header ${name}`)
  }
  const schema = response.content?.['application/json']?.schema
  if (!schema) return
  const validate = validatorOf(schema)
  if (!validate(body)) {
    throw new Error(`${method} ${path} ${status} is not as described: ${ajv.errorsText(validate.errors)}`)
  }
}
