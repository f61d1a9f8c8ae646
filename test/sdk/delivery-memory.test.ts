import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { deliveryMemory } from '../../sdk/src/index.ts'

test('forgets the oldest delivery when it is full, and what it is told to forget', () => {
  const memory = deliveryMemory({ max: 2 })
  assert.equal(
    ['a', 'b', 'a', 'c', 'a', 'b'].map((id) => memory.remember(id)),
    [true, true, false, true, true, true],
  )
  memory.forget('b')
  assert.is(memory.remember('b'), true)
})

test('takes an id as new exactly once while there is room', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 50 }), (ids) => {
      const memory = deliveryMemory()
      assert.is(ids.filter((id) => memory.remember(id)).length, new Set(ids).size)
    }),
  )
})

test.run()
