import { html, type Markup } from '../pages/kit/html.ts'
import type { JsonSchema } from './json-schema.ts'

interface Field {
  name: string
  type: string
  required: boolean
  description: string
}

/** The fields of an object's schema as a table, those of nested objects named `outer.inner`; alternatives one after the other. */
export function fieldTable(schema: JsonSchema): Markup {
  const alternatives = schema['oneOf'] ?? schema['anyOf']
  if (Array.isArray(alternatives)) return html`${alternatives.map((each) => fieldTable(each as JsonSchema))}`
  return html`<table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>
${fieldsOf(schema).map(
  ({ name, type, required, description }) =>
    html`<tr><td><code>${name}</code></td><td>${type}${!required && html` <em>optional</em>`}</td><td>${description}</td></tr>`,
)}
</tbody></table>`
}

function fieldsOf(schema: JsonSchema, prefix = ''): Field[] {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>
  const required = (schema['required'] ?? []) as string[]
  return Object.entries(properties).flatMap(([name, property]) => {
    const inner = innerOf(property)
    const field: Field = {
      name: `${prefix}${name}`,
      type: typeOf(property),
      required: required.includes(name),
      description: String(property['description'] ?? ''),
    }
    return [field, ...(inner ? fieldsOf(inner.schema, `${prefix}${name}${inner.suffix}.`) : [])]
  })
}

/** What an object or an array of objects holds, null or not. */
function innerOf(schema: JsonSchema): { schema: JsonSchema; suffix: string } | null {
  const actual = withoutNull(schema)
  if (actual['properties']) return { schema: actual, suffix: '' }
  const items = actual['items'] as JsonSchema | undefined
  return items?.['properties'] ? { schema: items, suffix: '[]' } : null
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const alternatives = schema['anyOf'] as JsonSchema[] | undefined
  return alternatives?.find(({ type }) => type !== 'null') ?? schema
}

function typeOf(schema: JsonSchema): string {
  const alternatives = schema['anyOf'] as JsonSchema[] | undefined
  if (alternatives) return alternatives.map(typeOf).join(' or ')
  if ('const' in schema) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' or ')
  if (schema['type'] === 'array') return `array of ${typeOf((schema['items'] ?? {}) as JsonSchema)}`
  return [schema['type'] ?? 'any', schema['format']].filter(Boolean).join(', ')
}
