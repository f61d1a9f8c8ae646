import type { Client } from './client.ts'
import type { Tone } from './text.ts'

export const VIEW_NAMES = ['overview', 'actors', 'connections', 'browsers', 'deliveries', 'audit'] as const
export type ViewName = (typeof VIEW_NAMES)[number]

export interface Column {
  title: string
  /** In characters; `rest` shares what the others leave. */
  width: number | 'rest'
  align?: 'right'
  /** Shown from this width of the terminal on. */
  from?: number
}

/** What an action on a row is about. */
export type Target =
  | { kind: 'connection'; id: string; appId: string; userRef: string }
  | { kind: 'delivery'; id: string; ended: boolean }
  | { kind: 'lease'; id: string }

export interface Row {
  id: string
  /** One for each column, as drawn. */
  cells: string[]
  /** One for each column, to sort by. */
  sort: (string | number)[]
  /** Nothing unusual where it is absent. */
  tone?: Tone | undefined
  /** What a filter looks through. */
  search: string
  target?: Target
  /** What is shown of it in full: a name and its value, or a line. */
  detail: Detail
  /** Below it in a tree. */
  children?: Row[]
}

export type Detail = ([name: string, value: string] | string)[]

/** The last quarter hour in steps of 15 seconds, the newest last. */
export type History = Record<'active' | 'due' | 'waiting' | 'lag', (number | undefined)[]>

export interface Context {
  now: number
  history: History
  width: number
}

/** One screen: what it asks for, and how it shows the answer. */
export interface View<D = unknown> {
  title: string
  columns: readonly Column[]
  /** What it is sorted by at first. */
  sort: Sort
  /** What its keys do, beyond those of every view: in the list, and on a row that is opened. */
  hints: { list: string; opened: string[] }
  /** `q`: what the filter holds. */
  load(client: Client, asked: { q: string; signal?: AbortSignal }): Promise<D>
  /** Lines above the table. */
  summary(data: D, context: Context): string[]
  rows(data: D, context: Context): Row[]
  /** What is asked for when a row is opened. */
  loadDetail?(client: Client, id: string): Promise<Detail>
}

export interface Sort {
  column: number
  down: boolean
}

/** The six differ in their data only, which none of them gets of another. */
export const defineView = <D>(view: View<D>): View => view as View
