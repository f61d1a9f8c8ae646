import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { gzipPiece, joinPieces, textBytes, textOf } from '../../core/gzip-pieces.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.tuple(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 30_000 })).map(([word, times]) => word.repeat(times)),
)

test('a piece is a gzip file of its text', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (plain) => {
      const piece = await gzipPiece(plain)
      assert.ok(textOf(piece) === plain)
      assert.is(textBytes(piece), Buffer.byteLength(plain))
    }),
  )
})

test('pieces joined are one gzip file of their texts in a row', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, fc.boolean()), { maxLength: 8 }), async (texts) => {
      const pieces = await Promise.all(texts.map(async ([plain, packed]) => (packed ? await gzipPiece(plain) : plain)))
      const file = joinPieces(pieces)
      const whole = texts.map(([plain]) => plain).join('')
      // It fails where length or checksum of the whole are not as they should be.
      assert.ok(gunzipSync(file).toString() === whole)
      assert.is(textBytes(file), Buffer.byteLength(whole))
    }),
  )
})

test('what many have in common is compressed once', async () => {
  const piece = await gzipPiece('word '.repeat(10_000))
  const file = joinPieces(Array.from({ length: 100 }, () => piece))
  assert.ok(file.length <= 100 * piece.length)
  assert.is(textBytes(file), 5_000_000)
})

test.run()
