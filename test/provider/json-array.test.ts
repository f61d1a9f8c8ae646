import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createByteBudget } from '../../core/byte-budget.ts'
import { ExportError, ExportTooLargeError } from '../../provider/errors.ts'
import { splitJsonArray } from '../../provider/json-array.ts'
import { collect } from './zip.ts'

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}
async function split(text: string | Buffer, { size = 7, max = 1000 } = {}): Promise<unknown[]> {
  return collect(
    splitJsonArray({ source: chunksOf(Buffer.from(text), size), maxElementBytes: max, budget: createByteBudget(max) }),
  )
}
async function failure(text: string | Buffer, options = {}): Promise<string> {
  try {
    await split(text, options)
  } catch (error) {
    if (error instanceof ExportError) return error.message
    throw error
  }
  return 'accepted'
}

test('any array comes back as it was, however it is cut into chunks', async () => {
  const elements = fc.array(fc.jsonValue({ maxDepth: 4 }))
  await fc.assert(
    fc.asyncProperty(
      elements,
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(undefined, 1, '\t'),
      async (value, size, indent) => {
        const text = JSON.stringify(value, null, indent)
        const parsed: unknown = JSON.parse(text)
        const hasProto = text.includes('"__proto__"')
        if (!hasProto) assert.equal(await split(text, { size, max: 100_000 }), parsed)
      },
    ),
    { numRuns: 500 },
  )
})

test('brackets, commas and quotes inside strings are text', async () => {
  const value = [{ a: '],[{"' }, 'x\\', '\\"', ['\u2028', 'é', '😀'], {}, [], 0, null]
  for (const size of [1, 2, 3, 100]) assert.equal(await split(JSON.stringify(value), { size }), value)
  assert.equal(await split(`\ufeff \n[ 1 , 2 ]\r\n`), [1, 2])
  assert.equal(await split('[]'), [])
})

test('what is no JSON array is refused with a reason', async () => {
  assert.match(await failure(''), 'empty')
  assert.match(await failure('  '), 'empty')
  assert.match(await failure('{"a":1}'), 'no JSON array')
  assert.match(await failure('[1'), 'too early')
  assert.match(await failure('[1,'), 'too early')
  assert.match(await failure('["a'), 'too early')
  for (const text of ['[1,]', '[,1]', '[1 2]', '[}]', '[{]', "['a']", '[{"a":1}{"b":2}]', '[nan]']) {
    assert.match(await failure(text), /conversation \d is not JSON|too early/, text)
  }
  assert.match(await failure('[1]]'), 'follows')
  assert.match(await failure('[1],[2]'), 'follows')
  assert.match(await failure(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d])), 'not UTF-8')
  assert.match(await failure(`["${'a'.repeat(2000)}"]`), 'larger than 1000')
  assert.match(await failure(`[${'['.repeat(500)}`), 'deeper than 100')
  assert.match(await failure('[{"a": {"__proto__": {"b": 1}}}]'), 'conversation 1 is not JSON that can be used')
  assert.match(await failure('[{"\\u005f_proto__": 1}]'), 'not JSON that can be used')
  assert.equal(await split('[{"a": "__proto__"}]'), [{ a: '__proto__' }])
})

test('an element of more values than may be held is refused before they are made', async () => {
  const most = `[${'{},'.repeat(499_998)}{}]`
  assert.is((await split(`[${most}]`, { size: 1 << 20, max: 1 << 30 })).length, 1)
  const refused = await split(`["${',{['.repeat(2_000_000)}",[${most},1,1]]`, { size: 1 << 20, max: 1 << 30 }).catch(
    (error: unknown) => error,
  )
  assert.instance(refused, ExportTooLargeError)
  assert.is((refused as Error).message, 'it is larger than 1000000 values in one conversation')
})

test('elements that are not small take memory with their bytes, and give it back when the next is asked for', async () => {
  const budget = createByteBudget(4 << 20)
  const open = () =>
    splitJsonArray({
      source: chunksOf(Buffer.from(`["${'a'.repeat(3 << 20)}", 1]`), 1 << 20),
      maxElementBytes: 1 << 30,
      budget,
    })
  const [one, two] = [open(), open()]
  assert.is(String((await one.next()).value).length, 3 << 20)
  assert.is(budget.taken(), (3 << 20) + 2)
  let begun = false
  const second = two.next().then(() => {
    begun = true
  })
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  assert.not.ok(begun, 'there is room for its first MiB, and no more')
  assert.ok(budget.taken() <= 4 << 20)
  assert.is((await one.next()).value, 1)
  await second
  await two.return(undefined)
  await one.return(undefined)
  assert.is(budget.taken(), 0)
})

test('rubbish never does anything but fail with a reason', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
      await failure(Buffer.concat([Buffer.from('['), bytes]))
    }),
    { numRuns: 500 },
  )
})

test.run()
