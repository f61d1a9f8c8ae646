import { type Clock, MINUTE, SECOND } from '../../core/clock.ts'
import { type Account, Accounts } from '../../schemas/account.ts'

/** A turn may be used this long after its time and is forfeited then, however the process was held up (service ms). */
const LATE_MS = SECOND
/** So much longer one request may be on its way to the provider than another (service ms): a new connection, a packet sent again. */
const WAY_MS = SECOND
/** What either of them is at least, however fast service waits run (machine ms): timers and busy machines are not scaled. */
const LEAST_MARGIN_MS = 25

/** Turns are reserved in blocks of about this long (service ms): few writes, and little is lost with a crash. */
const BLOCK_MS = 2 * SECOND
/** The same in machine ms, however fast service waits run. */
const LEAST_BLOCK_MS = 250
const LARGEST_BLOCK = 1_000
/** Turns are asked for as much ahead as the last answer took, but no more (machine ms): one hiccup is not the rule. */
const LONGEST_LEAD_MS = 5 * SECOND

/** Reserves `ms` from the first moment that is free, `earliest` or later; answers that moment. Nobody else gets any of it. */
export type Reserve = (options: { earliest: Date; ms: number }) => Promise<Date>

export interface PaceOptions {
  requestsPerMinute: number
  clock: Clock
  signal: AbortSignal
}

/**
 * Holds one account's reading rate (PROVIDER.md `requestsPerMinute`) to the letter, however many processes run: within no minute do
 * more requests reach the provider. Turns are reserved on the account's document, so that two readers, or one after a crash, never
 * take the same. The answered function waits for the next turn; what it waited for has to be sent at once. It throws the signal's
 * reason when that is aborted.
 */
export const createPace = ({ accountId, ...options }: PaceOptions & { accountId: string }): (() => Promise<void>) =>
  paceOf({ ...options, reserve: (turns) => reserveOnAccount(accountId, turns) })

/** The same on any reservations. */
export function paceOf({
  reserve,
  requestsPerMinute,
  clock,
  signal,
}: PaceOptions & { reserve: Reserve }): () => Promise<void> {
  const lateMs = Math.max(clock.scaled(LATE_MS), LEAST_MARGIN_MS)
  const wayMs = Math.max(clock.scaled(WAY_MS), LEAST_MARGIN_MS)
  // The first of so many requests and one arrives late by both margins at most, the last of them not at all: a minute is between them.
  const turnMs = (clock.scaled(MINUTE) + lateMs + wayMs) / requestsPerMinute
  const wantedMs = Math.max(clock.scaled(BLOCK_MS), LEAST_BLOCK_MS)
  const size = Math.min(LARGEST_BLOCK, Math.max(1, Math.round(wantedMs / turnMs)))
  let begin = 0
  let taken = size
  let leadMs = 0
  let reserving: Promise<void> | undefined

  const reserveBlock = async (): Promise<void> => {
    const asked = clock.elapsed()
    const earliest = new Date(clock.now().getTime() + leadMs)
    begin = (await reserve({ earliest, ms: Math.ceil(size * turnMs) })).getTime()
    taken = 0
    leadMs = Math.min(clock.elapsed() - asked, LONGEST_LEAD_MS)
  }

  const waitUntil = async (time: number): Promise<void> => {
    const now = () => clock.now().getTime()
    for (let ms = time - now(); ms > 0; ms = time - now()) await clock.sleep(Math.ceil(ms), signal)
  }

  return async () => {
    for (;;) {
      signal.throwIfAborted()
      if (taken === size) {
        reserving ??= reserveBlock().finally(() => {
          reserving = undefined
        })
        await reserving
        continue
      }
      const turn = begin + taken++ * turnMs
      await waitUntil(turn)
      // Looked at after the wait: a timer may come late as well.
      if (clock.now().getTime() - turn <= lateMs) return
    }
  }
}

async function reserveOnAccount(accountId: string, { earliest, ms }: Parameters<Reserve>[0]): Promise<Date> {
  const account = await Accounts.findOneAndUpdate(
    { _id: accountId },
    [{ $set: { paceAt: { $add: [{ $max: ['$paceAt', earliest] }, ms] } } }],
    { returnDocument: 'after', updatePipeline: true, projection: { paceAt: 1 } },
  ).lean<Account>()
  if (!account?.paceAt) throw new Error('the account is gone')
  return new Date(account.paceAt.getTime() - ms)
}
