import { z } from 'zod'
import { nativeCaptureAnswer, nativeCaptureBody, nativeStartAnswer, nativeStartBody } from './connect-native.ts'
import { connectionsAnswer, connectionsQuery, olderConnectionsAnswer } from './connections.ts'
import { conversationsAnswer, conversationsQuery } from './conversations.ts'
import type { Endpoints } from './endpoint.ts'
import { ingestAnswer, ingestRunning, ingestTarget } from './ingest-export.ts'
import { purgeAnswer, purgeBody } from './purge.ts'

const READ_ERRORS = ['invalid_parameter', 'missing_authorization', 'invalid_api_key', 'rate_limited'] as const
const BODY_ERRORS = ['invalid_json', 'invalid_parameter', 'body_too_large', 'unsupported_media_type'] as const
const KEY_ERRORS = ['missing_authorization', 'invalid_api_key'] as const

/** The partners' API (docs/behaviour.md, Endpoints). The rate limit is that of the GET endpoints: reading never holds up a deletion. */
export const apiEndpoints = {
  listConnections: {
    method: 'get',
    path: '/api/connections',
    summary: 'Connections of a user',
    description:
      'The provider accounts that a user has connected, and their status. An expired session is detected at the next sync, so ' +
      '`connected` can stay true for some hours after the provider has ended it.',
    authentication: { by: 'apiKey' },
    rateLimited: true,
    tagged: true,
    query: connectionsQuery,
    missing: { userRef: 'missing_user_ref' },
    answers: { 200: { description: 'The user’s connections, newest capture first', shape: connectionsAnswer } },
    errors: ['missing_user_ref', ...READ_ERRORS, 'user_not_found'],
  },
  listConversations: {
    method: 'get',
    path: '/api/conversations',
    summary: 'Conversations of a connection',
    description:
      'Newest `update_time` first. Page with `limit` and `offset`: the last page is reached when offset plus the number of items is ' +
      'at least `total`. Or follow `nextCursor`, which neither repeats nor skips while a sync writes. With `userRef` instead of ' +
      '`connectionId` this is the older form of the connections listing.',
    authentication: { by: 'apiKey' },
    rateLimited: true,
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
    errors: ['missing_connection_id', ...READ_ERRORS, 'connection_not_found', 'user_not_found', 'busy'],
  },
  purge: {
    method: 'post',
    path: '/api/purge',
    summary: 'Delete a connection or a user',
    description:
      'Deletes at once and for good: credential, browser profile, conversations and attachment files. Give exactly one of `userRef` ' +
      '(everything of the user; sends `data.deleted`) and `connectionId` (one connection; sends `connection.deleted`). Repeating it ' +
      'answers zeros. A deletion that takes longer than 25 seconds goes on behind a 503; asking again joins it.',
    authentication: { by: 'apiKey' },
    waits: true,
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
  ingestExport: {
    method: 'post',
    path: '/api/ingest-export',
    summary: 'Ingest a provider export',
    description:
      'Ingests the provider’s data export of an account that is connected. Send the zip or its JSON as the raw body with the target in ' +
      'the query, or as the file of a multipart form with the target in the query or in a field before the file; up to 1 GiB. The ' +
      'export is checked as a whole before anything is stored, and counts are answered when all of it is. An ingestion of more than ' +
      'four minutes answers 202 and goes on. Sends `data.imported` when it inserted or updated a conversation.',
    authentication: { by: 'apiKey' },
    waits: true,
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
  getIngestion: {
    method: 'get',
    path: '/api/ingest-export/:ingestId',
    summary: 'How an ingestion ended',
    description: 'Answers as the ingestion itself: its counts, 202 while it goes on, or the error that ended it.',
    authentication: { by: 'apiKey' },
    rateLimited: true,
    params: z.object({ ingestId: z.string().describe('`ingestId` of the 202') }),
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
      'body_too_large',
      'rate_limited',
    ],
  },
  connectNative: {
    method: 'post',
    path: '/api/connect-native',
    summary: 'Connect from a native app',
    description:
      'For mobile apps without an SDK; no API key. `start` takes a connect link’s token, consumes the link and says where to send ' +
      'the WebView. `capture` hands the session over; while it answers `waiting`, repeat it every few seconds. The capture ' +
      'credential is valid for one hour and works once.',
    authentication: { by: 'link or capture credential' },
    waits: true,
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
} as const satisfies Endpoints
