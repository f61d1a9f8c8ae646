import { z } from 'zod'
import type { ErrorCode } from '../../core/errors.ts'
import {
  nativeCaptureAnswer,
  nativeCaptureBody,
  nativeStartAnswer,
  nativeStartBody,
} from '../../wire/connect-native.ts'
import { connectionsAnswer, connectionsQuery, olderConnectionsAnswer } from '../../wire/connections.ts'
import { conversationsAnswer, conversationsQuery } from '../../wire/conversations.ts'
import { ingestAnswer, ingestRunning, ingestTarget } from '../../wire/ingest-export.ts'
import { purgeAnswer, purgeBody } from '../../wire/purge.ts'

/** One method of one path, as the API description and the docs page tell it. */
export interface Operation {
  path: string
  method: 'get' | 'post'
  id: string
  summary: string
  description: string
  /** Bearer API key; the others are authenticated by what they are sent. */
  authenticated: boolean
  /** The request is counted, and every answer carries the RateLimit headers. */
  limited: boolean
  /** Answers carry an ETag; 304 where it is sent back. */
  tagged: boolean
  pathParameters?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** The body is an upload rather than JSON. */
  upload?: true
  answers: Record<number, { description: string; shape: z.ZodType }>
  errors: ErrorCode[]
}

const READ_ERRORS: ErrorCode[] = ['invalid_parameter', 'missing_authorization', 'invalid_api_key', 'rate_limited']
const BODY_ERRORS: ErrorCode[] = ['invalid_json', 'invalid_parameter', 'body_too_large', 'unsupported_media_type']
const KEY_ERRORS: ErrorCode[] = ['missing_authorization', 'invalid_api_key']

export const OPERATIONS: Operation[] = [
  {
    path: '/api/connections',
    method: 'get',
    id: 'listConnections',
    summary: 'Connections of a user',
    description:
      'The provider accounts that a user has connected, and their status. An expired session is detected at the next sync, so ' +
      '`connected` can stay true for some hours after the provider has ended it.',
    authenticated: true,
    limited: true,
    tagged: true,
    query: connectionsQuery,
    answers: { 200: { description: 'The user’s connections, newest capture first', shape: connectionsAnswer } },
    errors: ['missing_user_ref', ...READ_ERRORS, 'user_not_found'],
  },
  {
    path: '/api/conversations',
    method: 'get',
    id: 'listConversations',
    summary: 'Conversations of a connection',
    description:
      'Newest `update_time` first. Page with `limit` and `offset`: the last page is reached when offset plus the number of items is ' +
      'at least `total`. Or follow `nextCursor`, which neither repeats nor skips while a sync writes. With `userRef` instead of ' +
      '`connectionId` this is the older form of the connections listing.',
    authenticated: true,
    limited: true,
    tagged: true,
    query: z.object({
      ...conversationsQuery.shape,
      connectionId: conversationsQuery.shape.connectionId
        .optional()
        .describe('The connection to list; required unless userRef is given'),
      userRef: connectionsQuery.shape.userRef.optional().describe('Older form: lists this user’s connections instead'),
    }),
    answers: {
      200: {
        description: 'A page of conversations; in the older form the user’s connections',
        shape: z.union([conversationsAnswer, olderConnectionsAnswer]),
      },
    },
    errors: ['missing_connection_id', ...READ_ERRORS, 'connection_not_found', 'user_not_found'],
  },
  {
    path: '/api/purge',
    method: 'post',
    id: 'purge',
    summary: 'Delete a connection or a user',
    description:
      'Deletes at once and for good: credential, browser profile, conversations and attachment files. Give exactly one of `userRef` ' +
      '(everything of the user; sends `data.deleted`) and `connectionId` (one connection; sends `connection.deleted`). Repeating it ' +
      'answers zeros. A deletion that takes longer than 25 seconds goes on behind a 503; asking again joins it.',
    authenticated: true,
    limited: false,
    tagged: false,
    body: purgeBody,
    answers: { 200: { description: 'Everything is deleted', shape: purgeAnswer } },
    errors: [
      'missing_app_id',
      'missing_purge_target',
      'two_purge_targets',
      ...BODY_ERRORS,
      ...KEY_ERRORS,
      'other_app',
      'user_not_found',
      'connection_not_found',
      'busy',
    ],
  },
  {
    path: '/api/ingest-export',
    method: 'post',
    id: 'ingestExport',
    summary: 'Ingest a provider export',
    description:
      'Ingests the provider’s data export of an account that is connected. Send the zip or its JSON as the raw body with the target in ' +
      'the query, or as the file of a multipart form with the target in the query or in a field before the file; up to 1 GiB. The ' +
      'export is checked as a whole before anything is stored, and counts are answered when all of it is. An ingestion of more than ' +
      'four minutes answers 202 and goes on. Sends `data.imported` when it inserted or updated a conversation.',
    authenticated: true,
    limited: false,
    tagged: false,
    query: ingestTarget,
    upload: true,
    answers: {
      200: { description: 'The whole export is ingested', shape: ingestAnswer },
      202: { description: 'The upload is whole; the ingestion goes on', shape: ingestRunning },
    },
    errors: [
      'missing_purge_target',
      'two_purge_targets',
      'invalid_parameter',
      'no_export',
      ...KEY_ERRORS,
      'other_account',
      'user_not_found',
      'connection_not_found',
      'connection_revoked',
      'body_too_large',
      'unsupported_media_type',
    ],
  },
  {
    path: '/api/ingest-export/{ingestId}',
    method: 'get',
    id: 'getIngestion',
    summary: 'How an ingestion ended',
    description: 'Answers as the ingestion itself: its counts, 202 while it goes on, or the error that ended it.',
    authenticated: true,
    limited: true,
    tagged: false,
    pathParameters: z.object({ ingestId: z.string().describe('`ingestId` of the 202') }),
    answers: {
      200: { description: 'The whole export is ingested', shape: ingestAnswer },
      202: { description: 'The ingestion goes on', shape: ingestRunning },
    },
    errors: [
      'no_export',
      ...KEY_ERRORS,
      'other_account',
      'not_found',
      'connection_not_found',
      'connection_revoked',
      'rate_limited',
    ],
  },
  {
    path: '/api/connect-native',
    method: 'post',
    id: 'connectNative',
    summary: 'Connect from a native app',
    description:
      'For mobile apps without an SDK; no API key. `start` takes a connect link’s token, consumes the link and says where to send ' +
      'the WebView. `capture` hands the session over; while it answers `waiting`, repeat it every few seconds. The capture ' +
      'credential is valid for one hour and works once.',
    authenticated: false,
    limited: false,
    tagged: false,
    body: z.discriminatedUnion('action', [nativeStartBody, nativeCaptureBody]),
    answers: {
      200: {
        description: 'Of `start`: where to go. Of `capture`: connected, or waiting',
        shape: z.union([nativeStartAnswer, nativeCaptureAnswer]),
      },
    },
    errors: [
      'unknown_action',
      'missing_token',
      'malformed_token',
      'wrong_purpose',
      'unknown_provider',
      'missing_capture_nonce',
      'missing_client_secret',
      'missing_session_token',
      ...BODY_ERRORS,
      'invalid_token',
      'link_used',
      'forbidden_scope',
      'invalid_capture',
      'app_not_found',
      'account_held',
    ],
  },
]
