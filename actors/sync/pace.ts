import { type Clock, MINUTE, SECOND } from '../../core/clock.ts'
import { type Account, Accounts } from '../../schemas/account.ts'

/** Turns are reserved in blocks that last about this long (machine ms): few writes, and little is lost with a crash. */
const BLOCK_MS = 2 * SECOND
const LARGEST_BLOCK = 100

/** A request that is later than its turn by more (machine ms) moves those after it, so that none come in a burst. */
const LATE_MS = 10

/**
 * Holds one account's reading rate (PROVIDER.md `requestsPerMinute`), however many processes run: turns are reserved on the account's
 * document, so that two readers, or one after a crash, never take the same turn. The answered function waits for the next turn.
 */
export function createPace({
  accountId,
  requestsPerMinute,
  clock,
  signal,
}: {
  accountId: string
  requestsPerMinute: number
  clock: Clock
  signal: AbortSignal
}): () => Promise<void> {
  const turnMs = clock.scaled(MINUTE / requestsPerMinute)
  const block = Math.min(LARGEST_BLOCK, Math.max(1, Math.floor(BLOCK_MS / turnMs)))
  let turns: number[] = []
  let behindMs = 0
  let reserving: Promise<void> | undefined

  const reserve = async (): Promise<void> => {
    const now = clock.now()
    const account = await Accounts.findOneAndUpdate(
      { _id: accountId },
      [{ $set: { paceAt: { $add: [{ $max: ['$paceAt', now] }, Math.ceil(block * turnMs)] } } }],
      { returnDocument: 'after', updatePipeline: true },
    ).lean<Account>()
    const end = account?.paceAt?.getTime() ?? now.getTime() + block * turnMs
    // The last turn is the end of the block: whoever reserves the next one keeps a turn's distance from it.
    turns = Array.from({ length: block }, (_, index) => end - (block - 1 - index) * turnMs)
    behindMs = 0
  }

  return async () => {
    while (turns.length === 0) {
      reserving ??= reserve().finally(() => {
        reserving = undefined
      })
      await reserving
    }
    const turn = (turns.shift() ?? 0) + behindMs
    const waitMs = turn - clock.now().getTime()
    if (waitMs < -LATE_MS) behindMs -= waitMs
    if (waitMs > 0) await clock.sleep(waitMs, signal)
    else signal.throwIfAborted()
  }
}
