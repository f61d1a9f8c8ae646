/** What was asked for and what was answered, as the users and their app saw it. Times are ms of this process. */
export interface History {
  flows: Flow[]
  purges: Purge[]
  ingestions: Ingestion[]
  /** Each thing as it happened, for whoever has to find out. */
  notes: string[]
}

/** One way through connect: a link, `start`, `capture`; or a hosted page. */
export interface Flow {
  userRef: string
  /** The link's flow may have begun from here on. */
  sentAt: number
  /** The flow was acknowledged to have begun. */
  begunAt?: number
  /** It ended with a connection; a hosted page does not tell its id. */
  connected?: { at: number; connectionId?: string }
}

interface Purge {
  userRef: string
  /** Absent: everything of the user. */
  connectionId?: string
  sentAt: number
  doneAt?: number
}

interface Ingestion {
  connectionId: string
  externalIds: string[]
  sentAt: number
  doneAt?: number
}

export const emptyHistory = (): History => ({ flows: [], purges: [], ingestions: [], notes: [] })
