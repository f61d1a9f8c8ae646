import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseRetryAfter } from '../../provider/caller.ts'

const now = new Date('2026-03-01T12:00:00Z')
const WEEK_MS = 7 * 24 * 3600_000

test('seconds, an HTTP date, or nothing that can be used', () => {
  const cases: [string | null, number | null][] = [
    [null, null],
    ['', null],
    ['0', 0],
    [' 120 ', 120_000],
    ['Sun, 01 Mar 2026 12:02:00 GMT', 120_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['99999999999999', WEEK_MS],
    ['Fri, 01 Jan 2100 00:00:00 GMT', WEEK_MS],
    ['-5', null],
    ['soon', null],
    ['1.5.2', null],
  ]
  for (const [value, ms] of cases) assert.is(parseRetryAfter(value, now), ms, String(value))
})

test('whatever a provider sends is null or a bounded wait', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const ms = parseRetryAfter(value, now)
      assert.ok(ms === null || (ms >= 0 && ms <= WEEK_MS))
    }),
  )
})

test.run()
