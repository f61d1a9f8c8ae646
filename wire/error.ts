import { z } from 'zod'

/** Every error answer (docs/behaviour.md, Errors). */
export const errorAnswer = z.object({ error: z.string() })
