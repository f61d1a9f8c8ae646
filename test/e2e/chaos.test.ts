import { randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runChaos } from './chaos/run.ts'

/** Long enough for every kind of fault; with the start before it and the wait afterwards it takes three to four minutes. */
const FOR_MS = 120_000
const NOTES_SHOWN = 200

test('everything that was acknowledged holds, whatever was killed, frozen or lost meanwhile', async () => {
  const seed = process.env['CHAOS_SEED'] || randomUUID().slice(0, 8)
  console.log(`CHAOS_SEED=${seed}`)
  const { wrong, notes } = await runChaos({ seed, forMs: FOR_MS })
  if (wrong.length > 0) console.log(notes.slice(-NOTES_SHOWN).join('\n'))
  assert.equal(wrong, [], `CHAOS_SEED=${seed} npm test test/e2e/chaos`)
})

test.run()
