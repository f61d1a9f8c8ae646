import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type EventPayloads, isKnownEvent } from '../../sdk/src/events.ts'
import type { ConversationPage, IngestResult, PurgeResult, UserConnections } from '../../sdk/src/types.ts'
import type { apiEndpoints } from '../../wire/api-endpoints.ts'
import type { AnswerOf } from '../../wire/endpoint.ts'
import { EVENT_NAMES, type EventPayloads as SentPayloads } from '../../wire/events.ts'

type Api = typeof apiEndpoints
/** What JSON makes of it: a field is there or not, and never undefined. */
type Json<T> = T extends (infer E)[]
  ? Json<E>[]
  : T extends object
    ? { [K in keyof T]: Json<Exclude<T[K], undefined>> }
    : T

/** `true` where what the service sends is what the package says, with no field that it does not name; else it does not compile. */
type Agrees<Sent, Said> = [Json<Sent>, keyof Sent] extends [Said, keyof Said] ? true : never

type Page = Extract<AnswerOf<Api['listConversations']>, { conversations: unknown }>
type Done = Extract<AnswerOf<Api['ingestExport']>, { total: number }>

/** The package stands on its own, so its types are written there; the compiler holds them to the table of endpoints. */
const AGREED: [
  Agrees<AnswerOf<Api['listConnections']>, UserConnections>,
  Agrees<AnswerOf<Api['listConnections']>['connections'][number], UserConnections['connections'][number]>,
  Agrees<Page, ConversationPage>,
  Agrees<Page['conversations'][number], ConversationPage['conversations'][number]>,
  Agrees<AnswerOf<Api['purge']>, PurgeResult>,
  Agrees<Done, IngestResult>,
  Agrees<Omit<SentPayloads, 'test.event'>, EventPayloads>,
] = [true, true, true, true, true, true, true]

test('the package says what the service sends', () => {
  assert.ok(AGREED.every(Boolean))
  for (const event of EVENT_NAMES) {
    const known = isKnownEvent({ event, payload: {}, deliveryId: '' })
    assert.is(known, event !== 'test.event', event)
  }
})

test.run()
