import { createDecipheriv, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createKeyring, KEY_BYTES, seal, unseal, unwrapKey, wrapKey } from '../../core/envelope.ts'

const envelope = suite('envelope encryption')
const master = randomBytes(KEY_BYTES)
const context = { owner: 'connection-1', purpose: 'credential' }

envelope('what is sealed opens again, byte for byte', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), (plain) => {
      const { key } = createKeyring([master]).newDataKey()
      assert.equal(unseal(key, context, seal(key, context, plain)), Buffer.from(plain))
    }),
  )
})

envelope('nothing opens under another owner, purpose or key, or with one bit changed', () => {
  const { key } = createKeyring([master]).newDataKey()
  const sealed = seal(key, context, 'secret')
  assert.throws(() => unseal(key, { ...context, owner: 'connection-2' }, sealed))
  assert.throws(() => unseal(key, { ...context, purpose: 'attachment' }, sealed))
  assert.throws(() => unseal(randomBytes(KEY_BYTES), context, sealed))
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const altered = Buffer.from(sealed)
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    assert.throws(() => unseal(key, context, altered), undefined, `bit ${bit}`)
  }
  assert.throws(() => unseal(key, context, sealed.subarray(0, 20)))
})

envelope('two seals of one text differ', () => {
  const { key } = createKeyring([master]).newDataKey()
  assert.not.equal(seal(key, context, 'same'), seal(key, context, 'same'))
})

envelope('master keys rotate: an old one opens what it wrapped and wraps nothing new', () => {
  const old = createKeyring([master]).newDataKey()
  const next = randomBytes(KEY_BYTES)
  const rotated = createKeyring([next, master])
  assert.equal(rotated.unwrap(old.wrapped), old.key)
  assert.is(rotated.newDataKey().wrapped.masterKeyId, rotated.currentId)
  assert.throws(() => createKeyring([next]).unwrap(old.wrapped), /is not configured/)
})

envelope('every purpose has a key of its own', () => {
  const keyring = createKeyring([master])
  assert.equal(keyring.derive('links'), keyring.derive('links'))
  assert.not.equal(keyring.derive('links'), keyring.derive('sessions'))
})

envelope('keys of one purpose are read under every master key, and written under the current one', () => {
  const next = randomBytes(KEY_BYTES)
  const [before, after] = [createKeyring([master, next]), createKeyring([next, master])]
  for (const [writer, reader] of [
    [before, after],
    [after, before],
  ] as const) {
    const written = writer.derive('links')
    assert.ok(reader.deriveAll('links').some((key) => key.equals(written)))
    assert.equal(writer.deriveAll('links')[0], written)
  }
  assert.not.ok(
    createKeyring([next])
      .deriveAll('links')
      .some((key) => key.equals(before.derive('links'))),
  )
})

envelope('associated data is the owner, the purpose and the version', () => {
  const { key } = createKeyring([master]).newDataKey()
  const sealed = seal(key, context, 'secret')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13), { authTagLength: 16 })
  decipher.setAAD(Buffer.from('connection-1|credential|1')).setAuthTag(sealed.subarray(13, 29))
  assert.is(decipher.update(sealed.subarray(29), undefined, 'utf8') + decipher.final('utf8'), 'secret')
})

envelope('a wrapped key opens only with the key that wrapped it', () => {
  const key = randomBytes(KEY_BYTES)
  assert.equal(unwrapKey(master, wrapKey(master, key)), key)
  assert.throws(() => unwrapKey(randomBytes(KEY_BYTES), wrapKey(master, key)))
})

envelope.run()
