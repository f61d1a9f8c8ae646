import { createHmac } from 'node:crypto'
import { type Clock, MINUTE, SECOND } from '../../core/clock.ts'
import { type Pace, Paces } from '../../schemas/connection/pace.ts'
import { isDuplicate } from '../../schemas/database.ts'

/** A permit may be used this long after its time and is forfeited then, however the process was held up (service ms). */
const LATE_MS = SECOND
/** So much longer one request may be on its way to the provider than another (service ms): a new connection, a packet sent again. */
const WAY_MS = SECOND
/** What either of them is at least, however fast service waits run (machine ms): timers and busy machines are not scaled. */
const LEAST_MARGIN_MS = 25

/** Permits are reserved in blocks of about this long (service ms): few writes, and little is lost with a crash. */
const BLOCK_MS = 2 * SECOND
/** The same in machine ms, however fast service waits run. */
const LEAST_BLOCK_MS = 250
const LARGEST_BLOCK = 1_000
/** Permits are asked for as much ahead as the last answer took, but no more (machine ms): one hiccup is not the rule. */
const LONGEST_LEAD_MS = 5 * SECOND

/** Reserves `ms` from the first moment that is free, `earliest` or later; returns that moment. Nobody else gets any of it. */
export type Reserve = (options: { earliest: Date; ms: number }) => Promise<Date>

interface PaceOptions {
  requestsPerMinute: number
  clock: Clock
  signal: AbortSignal
}

/**
 * Holds one account's reading rate (docs/provider.md, Profile: `requestsPerMinute`) to the letter, however many processes run: within no minute do
 * more requests reach the provider. Permits are reserved in the database, so that two readers, or one after a crash, never take the
 * same. The returned function waits for the next permit; what it waited for has to be sent at once. It throws the signal's
 * reason when that is aborted.
 */
export const createPace = ({ paceId, ...options }: PaceOptions & { paceId: string }): (() => Promise<void>) =>
  paceOf({ ...options, reserve: (block) => reserveStored(paceId, block) })

/** What the permits of one account of a provider are reserved under, whichever apps it is connected through. */
export const paceIdOf = ({
  provider,
  providerAccountId,
  paceKey,
}: {
  provider: string
  providerAccountId: string
  /** The same in every process, also while the master key is exchanged: two names of one account would be two paces. */
  paceKey: Buffer
}): string => createHmac('sha256', paceKey).update(`${provider}|${providerAccountId}`).digest('base64url')

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
  const permitMs = (clock.scaled(MINUTE) + lateMs + wayMs) / requestsPerMinute
  const wantedMs = Math.max(clock.scaled(BLOCK_MS), LEAST_BLOCK_MS)
  const size = Math.min(LARGEST_BLOCK, Math.max(1, Math.round(wantedMs / permitMs)))
  let begin = 0
  let taken = size
  let leadMs = 0
  let reserving: Promise<void> | undefined

  const reserveBlock = async (): Promise<void> => {
    const asked = clock.elapsed()
    const earliest = new Date(clock.now().getTime() + leadMs)
    begin = (await reserve({ earliest, ms: Math.ceil(size * permitMs) })).getTime()
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
      const time = begin + taken++ * permitMs
      if (time > clock.now().getTime()) await waitUntil(time)
      // Looked at after the wait: a timer may come late as well.
      if (clock.now().getTime() - time <= lateMs) return
    }
  }
}

async function reserveStored(_id: string, { earliest, ms }: Parameters<Reserve>[0]): Promise<Date> {
  const reserve = () =>
    Paces.findOneAndUpdate(
      { _id },
      [{ $set: { reservedUntil: { $add: [{ $max: ['$reservedUntil', earliest] }, ms] } } }],
      { upsert: true, returnDocument: 'after', updatePipeline: true },
    ).lean<Pace>()
  // Two may make the first reservation at once.
  const pace = await reserve().catch((error: unknown) => (isDuplicate(error) ? reserve() : Promise.reject(error)))
  if (!pace) throw new Error('nothing was reserved')
  return new Date(pace.reservedUntil.getTime() - ms)
}
