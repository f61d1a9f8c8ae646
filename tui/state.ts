import type { Detail, History, Row, Sort, Target, ViewName } from './view.ts'

/** What was loaded last of one view. */
interface Loaded {
  data: unknown
  /** When (ms of the clock). */
  at: number
}

/** How one view is looked at; kept while another is shown. */
export interface Look {
  filter: string
  sort: Sort
  folded: ReadonlySet<string>
  /** Id of the selected row, and where it stood: another takes its place where it is gone. */
  selected: string | null
  position: number
}

/** A row that was opened. */
export interface Opened {
  /** As it was when it was listed last. */
  row: Row
  /** What was asked for beside what the list has; null while it loads. */
  more: Detail | null
  /** When that was asked for last (ms of the clock). */
  askedAt: number
  scroll: number
}

export interface Purge {
  kind: 'purge'
  target: Extract<Target, { kind: 'connection' }>
  whole: 'connection' | 'user'
  /** What has to be typed. */
  expected: string
  typed: string
  /** What would be deleted; null while that is asked. */
  preview: { connectionsRevoked: number; conversationsDeleted: number } | null
  problem: string | null
  running: boolean
}

interface ReplayAll {
  kind: 'replay-all'
  ids: string[]
}

export interface State {
  view: ViewName
  readOnly: boolean
  now: number
  size: { columns: number; rows: number }
  loaded: Partial<Record<ViewName, Loaded>>
  looks: Record<ViewName, Look>
  opened: Opened | null
  /** Letters go into the filter. */
  filtering: boolean
  dialog: Purge | ReplayAll | { kind: 'help' } | null
  paused: boolean
  /** What is wrong with the service, and since when. */
  trouble: { message: string; since: number } | null
  /** What came of the last action. */
  message: { text: string; at: number } | null
  history: History
}
