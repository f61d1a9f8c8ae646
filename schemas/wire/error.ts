import { z } from 'zod'

/** Every error answer (SPEC.md, Errors). */
export const errorAnswer = z.object({ error: z.string() })
