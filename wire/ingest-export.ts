import { z } from 'zod'
import { text, USER_REF_LENGTH, uuid } from './text.ts'

const count = z.number().int().min(0)

/** POST /api/ingest-export: where the export belongs; in the query, or as fields of a multipart form before the file. */
export const ingestTarget = z.object({
  connectionId: uuid.optional().describe('The connection that the export is of'),
  userRef: text(USER_REF_LENGTH).optional().describe('The user, where there is one connection only'),
})

/** 200 of POST /api/ingest-export: the whole export was ingested. */
export const ingestAnswer = z.object({
  ok: z.literal(true),
  ingestId: z.uuid(),
  connectionId: z.uuid(),
  inserted: count.describe('Conversations seen for the first time'),
  updated: count,
  unchanged: count,
  total: count.describe('inserted + updated + unchanged'),
})

/** 202: the upload is whole and the ingestion goes on; ask GET /api/ingest-export/{ingestId} for its end. */
export const ingestRunning = z.object({ ok: z.literal(true), ingestId: z.uuid(), state: z.literal('running') })

export type IngestAnswer = z.infer<typeof ingestAnswer>
export type IngestRunning = z.infer<typeof ingestRunning>
