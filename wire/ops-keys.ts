import { z } from 'zod'
import { OPERATOR_ROLES } from './endpoint.ts'
import { line } from './text.ts'

const time = z.iso.datetime()

/** What people call a key, to tell it from others. */
const keyName = line(80)

/** POST /ops/apps/:appId/keys */
export const newApiKeyBody = z.strictObject({ name: keyName })
/** 201 of it: the key is shown this once. */
export const newApiKeyAnswer = z.object({ id: z.string(), apiKey: z.string() })

const keyShape = z.object({
  id: z.string(),
  name: z.string(),
  hint: z.string().describe('The last characters of the key'),
  createdAt: time,
  revokedAt: time.nullable(),
})

/** GET /ops/apps/:appId/keys */
export const apiKeysAnswer = z.object({ keys: z.array(keyShape) })

/** An overlap is for a partner's deployment, not for good (docs/security.md, Secrets and tokens: 24 hours unless somebody says otherwise). */
const LONGEST_OVERLAP_S = 30 * 86_400
export const DEFAULT_OVERLAP_S = 86_400

/** POST /ops/apps/:appId/rotate: `app` signs links, `webhook` signs events. */
export const rotateBody = z.strictObject({
  secret: z.enum(['app', 'webhook'], 'must be app or webhook'),
  overlapSeconds: z
    .int('must be a whole number')
    .min(0, 'must be at least 0')
    .max(LONGEST_OVERLAP_S, `must be at most ${LONGEST_OVERLAP_S}`)
    .default(DEFAULT_OVERLAP_S)
    .describe('How long the old one stays valid; 0 ends it at once'),
})
/** 200 of it: the new one, shown this once. */
export const rotateAnswer = z.union([
  z.strictObject({ appSecret: z.string() }),
  z.strictObject({ webhookSecret: z.string() }),
])

/** POST /ops/keys */
export const newOperatorKeyBody = z.strictObject({
  name: keyName,
  role: z.enum(OPERATOR_ROLES, 'must be operator or support'),
})
/** 201 of it: the key is shown this once. */
export const newOperatorKeyAnswer = z.object({ id: z.string(), key: z.string() })

/** GET /ops/keys: those that were made; the first one is the service's own setting. */
export const operatorKeysAnswer = z.object({ keys: z.array(keyShape.extend({ role: z.enum(OPERATOR_ROLES) })) })

/** DELETE /ops/keys/:id and /ops/apps/:appId/keys/:id; one that was revoked before stays so. */
export const revokedAnswer = z.object({ ok: z.literal(true) })
