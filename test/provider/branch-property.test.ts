import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { extractConversation } from '../../provider/branch.ts'

test('list times and conversation times of one moment agree', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1_500_000_000_000_000, max: 2_000_000_000_000_000 }), (microseconds) => {
      const fraction = String(microseconds % 1_000_000).padStart(6, '0')
      const iso = `${new Date(Math.floor(microseconds / 1_000_000) * 1000).toISOString().slice(0, 19)}.${fraction}Z`
      const seconds = Number(`${Math.floor(microseconds / 1_000_000)}.${fraction}`)
      const of = (update_time: unknown) => extractConversation({ id: 'c', update_time }).updateTime?.getTime()
      assert.is(of(seconds), of(iso))
      assert.is(of(seconds), Math.floor(microseconds / 1000))
    }),
  )
})

test('any JSON is read without an error, into messages of the right shape', () => {
  const names = ['n0', 'n1', 'n2', '__proto__', 'constructor']
  const any = fc.jsonValue({ maxDepth: 3 })
  const message = fc.record(
    {
      id: any,
      author: fc.oneof(fc.record({ role: fc.constantFrom('user', 'assistant', 'tool', 'system') }), any),
      create_time: fc.oneof(fc.double(), any),
      content: fc.oneof(
        fc.record(
          { content_type: any, parts: fc.array(fc.oneof(any, fc.record({ asset_pointer: any }))), text: any },
          { requiredKeys: [] },
        ),
        any,
      ),
      metadata: fc.oneof(
        fc.record({ attachments: fc.array(fc.record({ id: any, name: any, size: any })), content_references: any }),
        any,
      ),
      status: any,
      end_turn: any,
    },
    { requiredKeys: [] },
  )
  const node = fc.oneof(
    fc.record(
      { parent: fc.oneof(fc.constantFrom(...names), any), message: fc.oneof(message, any) },
      { requiredKeys: [] },
    ),
    any,
  )
  const raw = fc.record(
    {
      title: any,
      create_time: fc.oneof(fc.double(), any),
      mapping: fc.oneof(fc.dictionary(fc.constantFrom(...names), node), any),
      current_node: fc.oneof(fc.constantFrom(...names), any),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(raw, (value) => {
      const { messages, title, firstMessageAt } = extractConversation({ ...value, id: 'c' })
      assert.ok(title === null || typeof title === 'string')
      assert.ok(firstMessageAt === null || !Number.isNaN(firstMessageAt.getTime()))
      for (const each of messages) {
        assert.type(each.content, 'string')
        assert.ok(['user', 'assistant', 'tool'].includes(each.role))
        assert.ok(each.timestamp === null || new Date(each.timestamp).toISOString() === each.timestamp)
        assert.ok(each.content !== '' || (each.attachments ?? []).length > 0)
        assert.equal(JSON.parse(JSON.stringify(each)), each)
      }
    }),
    { numRuns: 2000 },
  )
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      try {
        extractConversation(value)
      } catch (error) {
        assert.match((error as Error).message, 'neither id')
      }
    }),
  )
})

test.run()
