import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createSharedLock } from '../../provider/shared-lock.ts'

test('whoever runs alone runs alone, all get their turn, results and errors come back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(fc.boolean(), { maxLength: 12 }), async (scheduler, tasks) => {
      const runLocked = createSharedLock()
      const running = new Set<number>()
      let alone: number | null = null
      const all = tasks.map((isAlone, i) =>
        runLocked(
          async () => {
            assert.is(alone, null)
            if (isAlone) {
              assert.is(running.size, 0)
              alone = i
            }
            running.add(i)
            await scheduler.schedule(Promise.resolve(), `task ${i}`)
            running.delete(i)
            if (isAlone) alone = null
            if (i % 3 === 2) throw new Error(String(i))
            return i
          },
          { exclusive: () => isAlone },
        ).catch((error: Error) => {
          // A failed assertion must not pass for a task's own error.
          if (error.message !== String(i)) throw error
          return i
        }),
      )
      const done = Promise.all(all)
      await scheduler.waitFor(done)
      assert.equal(
        await done,
        tasks.map((_, i) => i),
      )
    }),
    { numRuns: 300 },
  )
})

test('calls that need not be alone run side by side', async () => {
  const runLocked = createSharedLock()
  let running = 0
  let most = 0
  const task = async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
  }
  await Promise.all([1, 2, 3, 4].map(() => runLocked(task, { exclusive: () => false })))
  assert.is(most, 4)
})

test.run()
