import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { applySetCookies, cookieHeader, isCookieValue, joinCookie, splitCookie } from '../../provider/cookie.ts'

const name = 'session-token'
const now = new Date('2026-01-01T00:00:00Z')
const jar = (cookies: Record<string, string>) =>
  joinCookie({ name, cookies: Object.entries(cookies).map(([key, value]) => ({ name: `${name}${key}`, value })) })
const apply = (current: string, ...setCookies: string[]) => applySetCookies({ name, current, setCookies, now })
const value = fc.stringMatching(/^[!-:<-~]+$/, { maxLength: 40 })

test('parts are joined in numeric order, from 0, without a gap', () => {
  assert.is(jar({}), null)
  assert.is(jar({ '.1': 'b', '.0': 'a', '.2': 'c' }), 'abc')
  assert.is(jar({ '.0': 'a', '.2': 'stale' }), 'a')
  assert.is(jar({ '.1': 'b' }), null)
  assert.is(jar({ '': 'whole', '.0': 'a' }), 'whole')
  assert.is(jar({ '': '', '.0': 'a', '.1': '' }), 'a')
  assert.is(
    jar(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`.${11 - i}`, String.fromCharCode(108 - i)]))),
    'abcdefghijkl',
  )
  assert.is(
    joinCookie({
      name,
      cookies: [
        { name: 'other.0', value: 'x' },
        { name: 'session-token-2', value: 'y' },
      ],
    }),
    null,
  )
})

test('what an earlier, longer value left behind is not joined', () => {
  const full = 'a'.repeat(3800)
  assert.is(jar({ '.0': full, '.1': 'end', '.2': full, '.3': 'old' }), `${full}end`)
  assert.is(jar({ '.0': full, '.1': full, '.2': 'end', '.3': 'old' }), `${full}${full}end`)
})

test('splitting and joining give the value back', () => {
  assert.equal(
    splitCookie({ name, value: 'a'.repeat(3800) }).map(({ name }) => name),
    [name],
  )
  assert.equal(
    splitCookie({ name, value: 'a'.repeat(9000) }).map(({ name, value }) => [name, value.length]),
    [
      [`${name}.0`, 3800],
      [`${name}.1`, 3800],
      [`${name}.2`, 1400],
    ],
  )
  assert.is(cookieHeader({ name, value: 'v=1' }), `${name}=v=1`)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20_000 }), fc.array(value, { maxLength: 3 }), (length, stale) => {
      const credential = 'abcdefghij'.repeat(2000).slice(0, length)
      const parts = splitCookie({ name, value: credential })
      const left = parts.length > 1 && length % 3800 !== 0 ? stale : []
      const cookies = [...parts, ...left.map((each, i) => ({ name: `${name}.${parts.length + i}`, value: each }))]
      assert.is(joinCookie({ name, cookies: cookies.reverse() }), credential)
    }),
  )
})

test('a rotation gives the newest value, split or not', () => {
  const full = 'n'.repeat(3800)
  assert.is(apply('old'), 'old')
  assert.is(apply('old', 'other=1; Path=/'), 'old')
  assert.is(apply('old', `${name}=new; Path=/; HttpOnly`), 'new')
  assert.is(apply('old', `${name}=first`, `${name}=second`), 'second')
  assert.is(apply('old', `${name}.1=b; Path=/`, `${name}.0=a`), 'ab')
  assert.is(apply('o'.repeat(9000), `${name}.0=${full}`, `${name}.1=end`), `${full}end`)
  assert.is(apply('o'.repeat(9000), `${name}.0=${full}`, `${name}.1=end`, `${name}.2=; Max-Age=0`), `${full}end`)
  assert.is(apply('o'.repeat(9000), `${name}=short`, `${name}.0=; Max-Age=0`, `${name}.1=; Max-Age=0`), 'short')
  assert.is(apply('short', `${name}=; Max-Age=0`, `${name}.0=${full}`, `${name}.1=end`), `${full}end`)
  assert.is(apply('o'.repeat(4000), `${name}.1=end`), `${'o'.repeat(3800)}end`)
})

test('a deletion alone, or a value that cannot be sent, loses nothing', () => {
  for (const header of [
    `${name}=; Max-Age=0`,
    `${name}=gone; Max-Age=-1`,
    `${name}=gone; Expires=Thu, 01 Jan 1970 00:00:00 GMT`,
    `${name}=`,
    `${name}=a b`,
    `${name}=\u00e4`,
    `${name}.x=1`,
    '=1',
    '',
  ]) {
    assert.is(apply('old', header), 'old', header)
  }
  assert.is(apply('old', `${name}=new; Expires=Thu, 01 Jan 2099 00:00:00 GMT`), 'new')
  assert.is(apply('old', `${name}=new; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT`), 'new')
  assert.is(apply('old', `${name}=new; Expires=rubbish`), 'new')
})

test('only what a header can carry is a cookie value', () => {
  for (const bad of ['', 'a;b', 'a b', 'a\r\nb', '\u20ac']) assert.not(isCookieValue(bad))
  fc.assert(fc.property(value, (each) => isCookieValue(each)))
  fc.assert(fc.property(value, fc.array(fc.string()), (current, headers) => apply(current, ...headers).length > 0))
})

test.run()
