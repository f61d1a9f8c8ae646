import { type Clock, MINUTE, SECOND } from '../core/clock.ts'
import { isDatabaseAway } from '../schemas/database.ts'

/** After so many crashes in a row a document is set aside and shown to operators (docs/architecture.md, idea 3). */
const CRASHES_TO_QUARANTINE = 5
const FIRST_BACK_OFF_MS = 5 * SECOND
const LONGEST_BACK_OFF_MS = 10 * MINUTE
/** Work that the database was lost under is tried again after this, however often that happens. */
const DATABASE_BACK_OFF_MS = 15 * SECOND

/** How work ended that did not end well. */
export type Crash = { error: unknown } | 'lapsed'

interface AfterCrash {
  /** In a row, with this one. */
  crashes: number
  /** When it is tried again; null: it is set aside. */
  retryAt: Date | null
  /** For operators. */
  reason: string
}

/**
 * What follows a crash after `before` others in a row. Work whose claim ran out (`lapsed`) may have died beside other work that killed its
 * process: the first time it is tried again at once; from the second on at moments so far apart that whatever kills a process dies alone.
 * A database that comes and goes counts for nothing: it would set healthy work aside.
 */
export function afterCrash({
  before,
  crash,
  endless = false,
  clock,
}: {
  before: number
  crash: Crash
  /** It is never set aside. */
  endless?: boolean
  clock: Clock
}): AfterCrash {
  if (crash !== 'lapsed' && isDatabaseAway(crash.error))
    return { crashes: before, retryAt: clock.after(DATABASE_BACK_OFF_MS), reason: 'the database was lost' }
  const crashes = before + 1
  const lapsed = crash === 'lapsed'
  const reason = lapsed ? 'its process died at work, or stalled' : nameOf(crash.error)
  if (crashes >= CRASHES_TO_QUARANTINE && !endless)
    return { crashes, retryAt: null, reason: `set aside after ${crashes} crashes in a row; the last: ${reason}` }
  const backOffMs = Math.min(FIRST_BACK_OFF_MS * 4 ** (crashes - 1), LONGEST_BACK_OFF_MS)
  const waitMs = !lapsed ? backOffMs : crashes === 1 ? 0 : 2 * Math.random() * backOffMs
  return { crashes, retryAt: clock.after(waitMs), reason }
}

/** The messages of libraries may quote what they work on. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return error.name === 'Error' ? error.message : error.name
}
