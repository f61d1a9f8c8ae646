import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../core/clock.ts'
import { createWakeable } from '../../core/wakeable.ts'

const wakeables = suite('pauses that others end')
const clock = systemClock()
const LONG_MS = 3_600_000

/** How much a signal holds of those that listen to it, or were made of it: Node keeps both in collections of its own. */
const heldBy = (signal: AbortSignal): number =>
  Object.getOwnPropertySymbols(signal)
    .map((symbol) => (signal as unknown as Record<symbol, { size?: number } | undefined>)[symbol]?.size ?? 0)
    .reduce((sum, size) => sum + size, 0)

wakeables('a wake ends the pause under way, and each that begins until it is forgotten', async () => {
  const wakeable = createWakeable({ clock })
  const pause = wakeable.pause(LONG_MS)
  assert.not(wakeable.isWoken())
  wakeable.wake()
  await pause
  await wakeable.pause(LONG_MS)
  assert.ok(wakeable.isWoken())
  wakeable.forget()
  assert.not(wakeable.isWoken())
  await wakeable.pause(1)
  assert.not(wakeable.isWoken())
})

wakeables('a signal ends a pause with its reason, before it begins too', async () => {
  const wakeable = createWakeable({ clock })
  const stopping = new AbortController()
  const reason = new Error('stopping')
  const endOf = (pause: Promise<void>) => pause.catch((error: unknown) => error)
  const end = endOf(wakeable.pause(LONG_MS, stopping.signal))
  stopping.abort(reason)
  assert.is(await end, reason)
  assert.is(await endOf(wakeable.pause(LONG_MS, stopping.signal)), reason)
})

wakeables('a signal that lasts as long as its process holds no more after many pauses than after one', async () => {
  const wakeable = createWakeable({ clock })
  const { signal } = new AbortController()
  const pauseOnce = async (): Promise<void> => {
    const pause = wakeable.pause(LONG_MS, signal)
    wakeable.wake()
    await pause
    wakeable.forget()
    await wakeable.pause(0, signal)
  }
  await pauseOnce()
  const after = heldBy(signal)
  for (let times = 0; times < 100; times++) await pauseOnce()
  assert.is(heldBy(signal), after)
})

wakeables.run()
