import { EventEmitter } from 'node:events'
import type { CDPSession, Page } from 'playwright'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createDialogs } from '../../browser-farm/dialogs.ts'
import type { Fields } from '../../browser-farm/fields.ts'
import { createPageInput } from '../../browser-farm/page-input.ts'
import { systemClock } from '../../core/clock.ts'
import type { FarmMessage } from '../../wire/stream.ts'
import { LONGEST_TEXT } from '../../wire/stream-constants.ts'

const MESSAGES = 20_000
/** What one visitor may have a node hold for them. */
const MOST_HELD = 2_000
const MOST_DIALOGS = 50

test('what is typed at a page that takes nothing is not held without end', () => {
  let held = 0
  const never = (): Promise<never> => {
    held++
    return new Promise(() => undefined)
  }
  const send = createPageInput({
    cdp: { send: never } as unknown as CDPSession,
    fields: { edit: never, pick: never, focus: never, selection: never, follow: never, agreed: never } satisfies Fields,
    dialogs: createDialogs({ clock: systemClock(), tell: () => undefined }),
    scale: 1,
    clock: systemClock(),
    tell: () => undefined,
  })
  for (let count = 0; count < MESSAGES; count++) {
    send({ type: 'text', text: 'x'.repeat(LONGEST_TEXT) })
    send({ type: 'copy' })
  }
  assert.ok(held <= MOST_HELD, `${held} messages`)
})

test('pages that ask on and on are not heard any more, in however many windows', async () => {
  const told: FarmMessage[] = []
  const dialogs = createDialogs({ clock: systemClock(), tell: (message) => told.push(message) })
  const question = { kind: 'alert', site: 'provider.example', message: 'Again', value: '' } as const
  const answers = Array.from({ length: 500 }, () => {
    const page = Object.assign(new EventEmitter(), { isClosed: () => false, mainFrame: () => null })
    return dialogs.ask(page as unknown as Page, question)
  })
  assert.is(told.length, MOST_DIALOGS)
  dialogs.stop()
  assert.equal(new Set(await Promise.all(answers)), new Set([null]))
})

test.run()
