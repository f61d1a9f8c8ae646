import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_EVERY_MS = 20
const GIVE_UP_MS = 30_000

/**
 * Waits for a condition, never for a time: answers its first truthy value, or fails saying what did not happen. Many that look at the
 * same time do so less often.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T> | T,
  { giveUpMs = GIVE_UP_MS, everyMs = LOOK_EVERY_MS } = {},
): Promise<NonNullable<T>> {
  const end = performance.now() + giveUpMs
  for (;;) {
    const value = await look()
    if (value) return value as NonNullable<T>
    if (performance.now() > end) throw new Error(`did not happen: ${what}`)
    await sleep(everyMs)
  }
}
