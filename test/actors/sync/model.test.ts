import { performance } from 'node:perf_hooks'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { suite } from 'uvu'
import { runHistory } from './model/run.ts'
import { history } from './model/steps.ts'
import { type ModelWorld, startModelWorld } from './model/world.ts'

/** `RUNS=2000 SEED=42` for more of them by hand. */
const RUNS = Number(process.env['RUNS'] || 200)
const SEED = Number(process.env['SEED'] || Date.now() % 1_000_000)
const SIDE_BY_SIDE = Number(process.env['SIDE_BY_SIDE'] || 16)

const model = suite('random histories agree with the model')
let world: ModelWorld
model.before(async () => {
  world = await startModelWorld()
})
model.after(async () => {
  await world.stop()
})

model(`${RUNS} histories, seed ${SEED}`, async () => {
  const begin = performance.now()
  const histories = fc.sample(history, { numRuns: RUNS, seed: SEED })
  const failures: { index: number; error: unknown }[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < histories.length && failures.length === 0; index = next++) {
      const steps = histories[index] ?? []
      try {
        await world.faults.spare(() => runHistory({ world, steps }))
      } catch (error) {
        failures.push({ index, error })
      }
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
  const [failure] = failures
  if (!failure) return console.log(`  ${RUNS} histories in ${Math.round(performance.now() - begin)} ms, seed ${SEED}`)
  const steps = (histories[failure.index] ?? []).map((step) => JSON.stringify(step)).join('\n  ')
  throw new Error(`SEED=${SEED}, history ${failure.index}:\n  ${steps}\n${inspect(failure.error)}`)
})

model.run()
