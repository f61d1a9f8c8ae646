import type { z } from 'zod'
import { type ErrorCode, ServiceError } from '../../core/errors.ts'

/**
 * Checks a query or body against its shape. Throws `ServiceError`: the code that `missing` gives for a field that is absent or
 * empty, else `invalid_parameter` with the field's name and what is wrong with it.
 */
export function parseInput<T extends z.ZodType>(
  shape: T,
  input: Record<string, unknown>,
  { missing = {} }: { missing?: Partial<Record<string, ErrorCode>> } = {},
): z.output<T> {
  for (const [name, code] of Object.entries(missing)) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    if (code && (value === undefined || value === null || value === '')) throw new ServiceError(code)
  }
  const parsed = shape.safeParse(input)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const name = issue?.path.map(String).join('.') || 'body'
  throw new ServiceError('invalid_parameter', { name, reason: issue?.message ?? 'is wrong' })
}
