import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { difference } from '../../../http/pages/start/assets/text-difference.ts'

test('the difference alone leads from one text to the other, and cuts no character', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\u{1F642}', '\u{1F643}', '\u00fc'), maxLength: 12 })
  fc.assert(
    fc.property(text, text, (before, after) => {
      const { start, end, text: entered } = difference(before, after)
      assert.is(before.slice(0, start) + entered + before.slice(end), after)
      for (const part of [entered, before.slice(start, end)]) assert.not.match(part, /\p{Cs}/u)
    }),
    { numRuns: 2_000 },
  )
})

test('what was added at the end, in the middle or taken away is all that is sent', () => {
  assert.equal(difference('hello', 'hello world'), { start: 5, end: 5, text: ' world' })
  assert.equal(difference('helo', 'hello'), { start: 3, end: 3, text: 'l' })
  assert.equal(difference('hello', ''), { start: 0, end: 5, text: '' })
})

test.run()
