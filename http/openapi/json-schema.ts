import { z } from 'zod'

export type JsonSchema = Record<string, unknown>

/**
 * The JSON Schema (2020-12, as OpenAPI 3.1 has it) of a shape that validates requests or describes answers. Objects stay open:
 * later versions add fields (docs/behaviour.md, Versioning).
 */
export function jsonSchemaOf(shape: z.ZodType): JsonSchema {
  const schema = z.toJSONSchema(shape, { target: 'draft-2020-12', io: 'input', unrepresentable: 'any' })
  const { $schema: _, ...rest } = schema
  return simplified(rest) as JsonSchema
}

function simplified(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplified)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name, content]) => {
    if (name === 'additionalProperties' && content === false) return false
    // A format says it better than the pattern that it is checked with; a number in a query is a number.
    const isFormat = name === 'pattern' && ('format' in value || ('type' in value && value.type === 'integer'))
    return !isFormat
  })
  return Object.fromEntries(entries.map(([name, content]) => [name, simplified(content)]))
}
