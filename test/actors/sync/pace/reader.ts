/**
 * A process that reads one account as fast as its pace lets it, stalls and idles now and then, until it is killed:
 * `reader.ts <ReaderOptions as JSON>`.
 */
import { createPace } from '../../../../actors/sync/pace.ts'
import { systemClock } from '../../../../core/clock.ts'
import { createProviderClient } from '../../../../provider/client.ts'
import { sandboxProfile } from '../../../../provider/profile.ts'
import { connectDatabase } from '../../../../schemas/database.ts'

export interface ReaderOptions {
  databaseUrl: string
  site: string
  paceId: string
  cookie: string
  requestsPerMinute: number
  timeScale: number
}

const WORKERS = 4
/** Longer than a turn may be late at the time scale of the tests. */
const STALL_MS = 300
/** Between two troubles of a kind: long enough for what waited in the first to be sent before the next. */
const PAUSE_MS = { least: 500, most: 3_000 }
const MAX_BYTES = 1024 * 1024

const options = JSON.parse(process.argv[2] ?? '') as ReaderOptions
const { databaseUrl, site, paceId, cookie, requestsPerMinute, timeScale } = options
await connectDatabase({ url: databaseUrl })
const clock = systemClock({ timeScale })
const { signal } = new AbortController()
const pace = createPace({ paceId, requestsPerMinute, clock, signal })
const client = createProviderClient({ profile: sandboxProfile(site), credential: { cookie }, clock, pace })

const oneOf = <T>(values: T[]): T => values[Math.floor(Math.random() * values.length)] as T
const pauseMs = () => PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least)

let idling = Promise.resolve()

async function idle(): Promise<never> {
  for (;;) {
    await clock.sleep(3 * pauseMs())
    idling = clock.sleep(pauseMs())
    await idling
  }
}

/** Nothing of this process happens meanwhile, its timers neither. */
async function stall(): Promise<never> {
  for (;;) {
    await clock.sleep(pauseMs())
    const end = clock.elapsed() + STALL_MS
    while (clock.elapsed() < end);
  }
}

async function work(): Promise<never> {
  for (;;) {
    await idling
    const { items } = await client.list({ offset: 0 })
    for (const { id } of items) {
      await idling
      await oneOf<() => Promise<unknown>>([
        () => client.conversation(id),
        () => client.conversation(id),
        () => client.file('file-cat', { maxBytes: MAX_BYTES }),
        () => client.session(),
      ])()
    }
  }
}

process.on('disconnect', () => process.exit(0))
process.send?.('ready')
await Promise.all([idle(), stall(), ...Array.from({ length: WORKERS }, work)])
