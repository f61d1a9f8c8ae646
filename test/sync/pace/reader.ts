/**
 * A process that reads one account as fast as its pace lets it, stalls and idles now and then, until it is killed:
 * `reader.ts <ReaderOptions as JSON>`.
 */
import { createPace } from '../../../actors/sync/pace.ts'
import { systemClock } from '../../../core/clock.ts'
import { createProviderClient } from '../../../provider/client.ts'
import { sandboxProfile } from '../../../provider/profile.ts'
import { connectDatabase } from '../../../schemas/database.ts'

export interface ReaderOptions {
  databaseUrl: string
  site: string
  accountId: string
  cookie: string
  requestsPerMinute: number
  timeScale: number
}

const WORKERS = 4
const STALL_MS = 200
const LONGEST_PAUSE_MS = 3_000
const MAX_BYTES = 1024 * 1024

const options = JSON.parse(process.argv[2] ?? '') as ReaderOptions
const { databaseUrl, site, accountId, cookie, requestsPerMinute, timeScale } = options
await connectDatabase({ url: databaseUrl })
const clock = systemClock({ timeScale })
const { signal } = new AbortController()
const pace = createPace({ accountId, requestsPerMinute, clock, signal })
const client = createProviderClient({ profile: sandboxProfile(site), credential: { cookie }, clock, pace })

const oneOf = <T>(values: T[]): T => values[Math.floor(Math.random() * values.length)] as T
const pauseMs = () => Math.random() * LONGEST_PAUSE_MS

let idling = Promise.resolve()

async function idle(): Promise<never> {
  for (;;) {
    await clock.sleep(2 * pauseMs())
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
