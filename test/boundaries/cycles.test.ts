import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { findCycles } from './cycles.ts'

const cyclesOf = (graph: Record<string, string[]>): string[][] => findCycles(new Map(Object.entries(graph)))

test('a graph without a circle has none', () => {
  assert.equal(cyclesOf({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }), [])
  assert.equal(cyclesOf({ a: ['b'] }), [])
})

test('circles are found whole, and each once', () => {
  assert.equal(cyclesOf({ a: ['a'] }), [['a']])
  assert.equal(cyclesOf({ start: ['a'], a: ['b'], b: ['c'], c: ['a', 'd'], d: [] }), [['a', 'b', 'c']])
  assert.equal(cyclesOf({ a: ['b', 'x'], b: ['a'], x: ['y'], y: ['x', 'a'] }), [['a', 'b', 'x', 'y']])
  assert.equal(cyclesOf({ a: ['b'], b: ['a'], c: ['d', 'a'], d: ['c'] }), [
    ['a', 'b'],
    ['c', 'd'],
  ])
})

test.run()
