import { z } from 'zod'
import { LONGEST_ID, text, USER_REF_LENGTH, uuid } from './text.ts'

/** POST /api/purge: exactly one of `userRef` and `connectionId`. */
export const purgeBody = z.object({
  appId: text(LONGEST_ID).describe('The app that the API key belongs to'),
  userRef: text(USER_REF_LENGTH).optional().describe('Deletes everything of this user'),
  connectionId: uuid.optional().describe('Deletes this connection'),
})

/** 200 of POST /api/purge */
export const purgeAnswer = z.object({
  ok: z.literal(true),
  connectionsRevoked: z.number().int().min(0),
  conversationsDeleted: z.number().int().min(0),
  deletedAt: z.iso.datetime(),
})

export type PurgeAnswer = z.infer<typeof purgeAnswer>

/** 200 of POST /ops/purge?dryRun=true: what would be deleted. */
export const purgePreviewAnswer = z.object({
  dryRun: z.literal(true),
  connectionsRevoked: z.number().int().min(0),
  conversationsDeleted: z.number().int().min(0),
})
