import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { batched } from '../../schemas/batched.ts'
import { until } from '../support/until.ts'

const shared = suite('work that calls share')

/** Doubles numbers; `end` ends the batch that is under way. */
function doubling() {
  const batches: number[][] = []
  let end = (): void => undefined
  const double = batched(async (numbers: number[]) => {
    batches.push(numbers)
    await new Promise<void>((resolve) => {
      end = resolve
    })
    return numbers.map((number) => 2 * number)
  })
  return { batches, double, end: () => end() }
}

shared('is one piece for those of one turn of the event loop, and another for those that come meanwhile', async () => {
  const { batches, double, end } = doubling()
  const first = [double(1), Promise.resolve().then(() => double(2))]
  await until('the first', () => batches.length === 1)
  const next = [double(3), double(4)]
  end()
  assert.equal(await Promise.all(first), [2, 4])
  await until('the next', () => batches.length === 2)
  end()
  assert.equal(await Promise.all(next), [6, 8])
  assert.equal(batches, [
    [1, 2],
    [3, 4],
  ])
})

shared('fails for those that shared it, and for nobody else', async () => {
  const load = batched(async (keys: string[]) => {
    if (keys.includes('bad')) throw new Error('bad')
    return keys
  })
  const first = Promise.allSettled([load('bad'), load('good')])
  assert.equal(
    (await first).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.is(await load('good'), 'good')
})

shared.run()
