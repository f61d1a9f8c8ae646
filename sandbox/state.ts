import { accountOf, type SandboxAccount } from './accounts.ts'
import { adaConversations } from './ada.ts'
import { branchesConversations } from './branches.ts'
import { generatedConversation, generatedSummary } from './generated.ts'
import { conversationNumber, type RawConversation } from './raw.ts'
import { recentAnchor } from './times.ts'

interface Summary {
  id: string
  title: string | null
  /** Unix seconds, as in the conversation. */
  create_time: number
  update_time: number
}

/** When an account's API calls are answered 429. */
interface RateLimit {
  /** Calls that pass before each pause. */
  after: number
  retryAfterSeconds: number
  form: 'seconds' | 'date' | 'none'
  /** How long the pause lasts (ms). */
  blockMs: number
}

/** An account and what happened to it since the site started. */
export interface AccountState {
  account: SandboxAccount
  changed: Map<string, RawConversation | null>
  summaries: Summary[] | null
  /** Sessions begun up to here (ms) are over. */
  endedAt: number
  tokenGeneration: number
  rotateNext: boolean
  turns: Map<string, number>
  limit: RateLimit | null
  blockedUntil: number
  callsSincePause: number
  calls: { session: number; list: number; conversation: number; file: number; refused: number }
}

export interface Fault {
  mode: 'status' | 'hang' | 'reset' | 'garbage' | 'truncate'
  /** How many calls fail. */
  count: number
  status: number
  retryAfter: string | null
  /** Only calls of this account. */
  email: string | null
  /** Only calls whose path holds this. */
  path: string | null
}

interface LogEntry {
  at: string
  email: string | null
  method: string
  path: string
  status: number
}

export interface SiteState {
  accounts: Map<string, AccountState>
  faults: Fault[]
  log: LogEntry[]
  timeScale: number
  now(): number
}

const LIMITED = { after: 10, retryAfterSeconds: 60, form: 'seconds' } as const

export function createState({ now, timeScale }: { now: () => number; timeScale: number }): SiteState {
  return { accounts: new Map(), faults: [], log: [], now, timeScale }
}

/** The state of an e-mail's account, made at first sight; null for what is no e-mail address. */
export function stateOf(site: SiteState, email: string): AccountState | null {
  const account = accountOf(email)
  if (account === null) return null
  const known = site.accounts.get(account.email)
  if (known) return known
  const limit =
    account.kind === 'limited' ? { ...LIMITED, blockMs: (LIMITED.retryAfterSeconds * 1000) / site.timeScale } : null
  const state: AccountState = {
    account,
    changed: new Map(),
    summaries: null,
    endedAt: 0,
    tokenGeneration: 0,
    rotateNext: false,
    turns: new Map(),
    limit,
    blockedUntil: 0,
    callsSincePause: 0,
    calls: { session: 0, list: 0, conversation: 0, file: 0, refused: 0 },
  }
  site.accounts.set(account.email, state)
  return state
}

/** All conversations of an account as the list tells of them, newest update first. */
export function listOf(site: SiteState, state: AccountState): Summary[] {
  state.summaries ??= makeSummaries(site, state)
  return state.summaries
}

export function conversationOf(site: SiteState, state: AccountState, id: string): RawConversation | null {
  const changed = state.changed.get(id)
  if (changed !== undefined) return changed
  const { account } = state
  const number = conversationNumber(account.email, id)
  if (number === null || number < 1 || number > account.conversations) return null
  return writtenByHand(site, account)?.[number - 1] ?? generatedConversation(account, number, anchorOf(site))
}

/** Puts a conversation in place of what the account had under its id; null takes it away. */
export function setConversation(state: AccountState, id: string, raw: RawConversation | null): void {
  state.changed.set(id, raw)
  state.summaries = null
}

function makeSummaries(site: SiteState, state: AccountState): Summary[] {
  const { account, changed } = state
  const anchor = anchorOf(site)
  const original: Summary[] =
    writtenByHand(site, account) ??
    Array.from({ length: account.conversations }, (_, i) => generatedSummary(account, i + 1, anchor))
  const kept = changed.size === 0 ? original : original.filter(({ id }) => !changed.has(id))
  const added = [...changed.values()].filter((raw) => raw !== null)
  return [...kept, ...added]
    .map(({ id, title, create_time, update_time }) => ({ id, title, create_time, update_time }))
    .sort((a, b) => b.update_time - a.update_time)
}

function writtenByHand(site: SiteState, account: SandboxAccount): RawConversation[] | null {
  if (account.kind === 'ada') return adaConversations(account.email, anchorOf(site))
  return account.kind === 'branches' ? branchesConversations(account.email) : null
}

function anchorOf(site: SiteState): number {
  return recentAnchor(new Date(site.now()))
}
