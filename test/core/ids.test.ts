import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { deriveId, isApiKey, isUuid, newApiKey, newId, newSecret, sameSecret } from '../../core/ids.ts'

const ids = suite('ids and keys')

ids('derived ids are UUIDs, the same for the same parts and for no others', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), fc.array(fc.string(), { minLength: 1 }), (a, b) => {
      assert.ok(isUuid(deriveId(...a)))
      assert.is(deriveId(...a) === deriveId(...b), JSON.stringify(a) === JSON.stringify(b))
    }),
  )
  assert.not.equal(deriveId('a|b'), deriveId('a', 'b'))
  assert.not.equal(newId(), newId())
})

ids('API keys carry the prefix and a checksum that catches every mistyped character', () => {
  const key = newApiKey()
  assert.match(key, /^ccs_/)
  assert.ok(isApiKey(key))
  for (let index = 4; index < key.length; index += 1) {
    const other = key[index] === '0' ? '1' : '0'
    assert.not.ok(isApiKey(key.slice(0, index) + other + key.slice(index + 1)), `character ${index}`)
  }
  for (const wrong of ['', 'ccs_', key.slice(4), `${key}0`, key.toUpperCase()]) assert.not.ok(isApiKey(wrong))
})

ids('secrets are long and compared as wholes', () => {
  assert.ok(Buffer.from(newSecret(), 'base64url').length >= 32)
  assert.ok(sameSecret('abc', 'abc'))
  assert.not.ok(sameSecret('abc', 'abcd'))
  assert.not.ok(sameSecret('', 'a'))
})

ids.run()
