import type { z } from 'zod'

/** What is wrong with a form, as a sentence that names the field by its label. */
export function problemOf(label: string, { issues: [issue] }: z.ZodError): string {
  return `${label} ${issue?.message ?? 'is wrong'}.`
}
