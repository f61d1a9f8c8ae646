import { z } from 'zod'
import { moment, text, uuid, wholeNumber } from './text.ts'

const time = z.iso.datetime()

const DEFAULT_LIMIT = 50
/** Larger values are capped. */
const MAX_LIMIT = 100
/**
 * A longer title is cut in a conversation's `title`, so that the conversations of a page can be held whatever they are called; its payload
 * has it whole. In UTF-16 units, as strings are measured; far longer than what anybody calls a conversation.
 */
export const LONGEST_TITLE = 10_000
const MAX_NUMBER = 2 ** 31 - 1
const LONGEST_CURSOR = 256

/** GET /api/conversations */
export const conversationsQuery = z
  .object({
    connectionId: uuid,
    limit: wholeNumber({ least: 1, most: Number.POSITIVE_INFINITY })
      .transform((limit) => Math.min(limit, MAX_LIMIT))
      .default(DEFAULT_LIMIT)
      .meta({ default: DEFAULT_LIMIT, description: `Conversations of a page; more than ${MAX_LIMIT} are capped` }),
    offset: wholeNumber({ least: 0, most: MAX_NUMBER }).optional().describe('Conversations to leave out; 0 by default'),
    cursor: text(LONGEST_CURSOR).optional().describe('`nextCursor` of the page before, instead of an offset'),
    updatedAfter: moment.optional().describe('Only conversations updated later than this'),
  })
  .refine(({ cursor, offset }) => cursor === undefined || offset === undefined, {
    path: ['cursor'],
    message: 'cannot be combined with offset',
  })

/** docs/behaviour.md, Message. Providers and later versions add fields. */
const messageShape = z.looseObject({
  role: z.enum(['user', 'assistant', 'tool']),
  content: z.string(),
  timestamp: time.nullable(),
  id: z.string().optional(),
  contentType: z.string().optional(),
  model: z.string().optional(),
  status: z.string().optional(),
  endTurn: z.boolean().optional(),
  attachments: z
    .array(
      z.looseObject({
        type: z.string().optional(),
        asset_pointer: z.string().optional(),
        name: z.string().optional(),
        size_bytes: z.number().optional(),
        width: z.number().optional(),
        height: z.number().optional(),
      }),
    )
    .optional(),
  contentReferences: z.array(z.unknown()).optional(),
})

/** docs/behaviour.md, Conversation */
const conversationShape = z.object({
  id: z.uuid(),
  external_id: z.string().describe('The provider’s conversation id'),
  title: z
    .string()
    .nullable()
    .describe(`The provider’s title; cut after ${LONGEST_TITLE} characters, and whole in the payload`),
  payload: z.object({ title: z.string().nullable(), messages: z.array(messageShape) }).nullable(),
  update_time: time.nullable().describe('Last change on the provider’s side'),
})

/** 200 of GET /api/conversations?connectionId= */
export const conversationsAnswer = z.object({
  conversations: z.array(conversationShape).describe('Newest update_time first'),
  total: z.number().int().min(0).describe('All conversations of the connection that the filter lets through'),
  limit: z.number().int(),
  offset: z.number().int(),
  nextCursor: z.string().nullable().describe('Where the next page begins; null after the last'),
})
