import type { Random } from './random.ts'

export type ProcessName = 'http' | 'actors' | 'browser-farm'

/** Something that goes wrong. `which` picks the victim among those of its kind. */
export type Fault =
  | { kind: 'kill'; process: ProcessName; which: number }
  | { kind: 'freeze'; process: ProcessName; which: number; forMs: number }
  | { kind: 'kill-database'; which: number }
  | { kind: 'slow-database'; byMs: number; forMs: number }
  | { kind: 'lost-answers'; every: number; forMs: number }
  | { kind: 'silent-database'; forMs: number }

export interface Timed {
  /** After the beginning (ms). */
  at: number
  fault: Fault
}

/** What a user, or its app, does next. Two at once where there is `beside`. */
export interface Step {
  action: 'connect' | 'connect-other' | 'add' | 'ingest' | 'purge' | 'purge-connection' | 'end-sessions' | 'sync'
  beside?: 'connect' | 'purge' | 'ingest' | 'purge-connection'
  /** Before the next one (ms). */
  pauseMs: number
}

/** Longer than a claim holds, and longer than two. */
const FREEZES_MS = [20_000, 40_000] as const
/** Between two faults: what was hurt by the one is at work again, more often than not, when the next one comes. */
const LEAST_GAP_MS = 4_000
const GAP_MS = 6_000

const kills = (process: ProcessName, count: number) =>
  Array.from({ length: count }, (_, which): Fault => ({ kind: 'kill', process, which }))

/** Every kind of fault once or more, in an order of the seed's; then again, for as long as it lasts. */
export function faultsOf({ random, forMs }: { random: Random; forMs: number }): Timed[] {
  const timed: Timed[] = []
  for (let at = LEAST_GAP_MS; ; ) {
    const deck: Fault[] = [
      ...kills('actors', 2),
      ...kills('http', 2),
      ...kills('browser-farm', 1),
      { kind: 'freeze', process: 'actors', which: random.below(2), forMs: FREEZES_MS[0] },
      { kind: 'freeze', process: 'actors', which: random.below(2), forMs: FREEZES_MS[1] },
      { kind: 'freeze', process: 'http', which: random.below(2), forMs: FREEZES_MS[0] },
      { kind: 'freeze', process: 'browser-farm', which: 0, forMs: FREEZES_MS[0] },
      { kind: 'kill-database', which: 0 },
      { kind: 'kill-database', which: 1 },
      { kind: 'slow-database', byMs: 50 + random.below(400), forMs: 6_000 },
      { kind: 'lost-answers', every: 3 + random.below(20), forMs: 5_000 },
      { kind: 'lost-answers', every: 20 + random.below(100), forMs: 8_000 },
      { kind: 'silent-database', forMs: 4_000 + random.below(14_000) },
    ]
    for (const fault of random.shuffled(deck)) {
      if (at >= forMs) return timed
      timed.push({ at, fault })
      at += LEAST_GAP_MS + random.below(GAP_MS)
    }
  }
}

/** Weighted: what stands twice comes twice as often. */
const STEPS: readonly [Omit<Step, 'pauseMs'>, ...Omit<Step, 'pauseMs'>[]] = [
  { action: 'connect' },
  { action: 'connect' },
  { action: 'connect' },
  { action: 'connect-other' },
  { action: 'connect', beside: 'connect' },
  { action: 'connect', beside: 'purge' },
  { action: 'connect', beside: 'purge-connection' },
  { action: 'add' },
  { action: 'add' },
  { action: 'add' },
  { action: 'add', beside: 'ingest' },
  { action: 'add', beside: 'connect' },
  { action: 'ingest' },
  { action: 'ingest' },
  { action: 'ingest' },
  { action: 'ingest', beside: 'purge' },
  { action: 'ingest', beside: 'connect' },
  { action: 'purge' },
  { action: 'purge', beside: 'purge' },
  { action: 'purge-connection' },
  { action: 'end-sessions' },
  { action: 'sync' },
  { action: 'sync' },
]

/** What a user does, for ever. The first thing is to connect. */
export function* stepsOf(random: Random): Generator<Step> {
  yield { action: 'connect', pauseMs: 0 }
  for (;;) yield { ...random.pick(STEPS), pauseMs: random.below(1_500) }
}
