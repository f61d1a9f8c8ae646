import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ByteShare, createByteBudget } from '../../core/byte-budget.ts'

/** What becomes of asking for so much, so far. */
async function asking(share: ByteShare, bytes: number): Promise<{ readonly got: boolean }> {
  const answer = { got: false }
  void share.reach(bytes).then(() => {
    answer.got = true
  })
  await settled()
  return answer
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('what there is goes to whoever asks, and comes back once', async () => {
  const budget = createByteBudget(10)
  const [one, two] = [budget.open(), budget.open()]
  await one.reach(4)
  await one.reach(3)
  await two.reach(6)
  assert.is(budget.taken(), 10)
  one.close()
  one.close()
  assert.is(budget.taken(), 6)
})

test('those that wait come in the order of opening, whoever asked first', async () => {
  const budget = createByteBudget(10)
  const [one, two, three] = [budget.open(), budget.open(), budget.open()]
  await one.reach(8)
  const third = await asking(three, 2)
  assert.ok(third.got)
  const second = await asking(two, 4)
  const more = await asking(three, 3)
  assert.equal([second.got, more.got], [false, false])
  one.close()
  await settled()
  assert.equal([second.got, more.got], [true, true])
})

test('where all hold some and want more, the first one ends, then the next', async () => {
  const budget = createByteBudget(10)
  const shares = Array.from({ length: 5 }, () => budget.open())
  await Promise.all(shares.map((share) => share.reach(2)))
  const asked = await Promise.all(shares.map((share) => asking(share, 9)))
  for (const [index, share] of shares.entries()) {
    await settled()
    assert.ok(asked[index]?.got, `piece ${index}`)
    assert.ok(budget.taken() <= 10 + 9, String(budget.taken()))
    share.close()
  }
  assert.is(budget.taken(), 0)
})

test('more than there is in all is given to one that is alone, and one that gives up holds up nobody', async () => {
  const budget = createByteBudget(10)
  const [large, given, last] = [budget.open(), budget.open(), budget.open()]
  assert.ok((await asking(large, 50)).got)
  const never = await asking(given, 50)
  const waits = await asking(last, 1)
  given.close()
  large.close()
  await settled()
  assert.equal([never.got, waits.got], [false, true])
})

test.run()
