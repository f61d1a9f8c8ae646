import fc from 'fast-check'
import type { Change } from './account.ts'

/** One step of a random history. Users, accounts and apps are small numbers; connections are named by the order they were made in. */
export type Step =
  | { kind: 'login'; user: number; account: number; app: number }
  | { kind: 'add'; account: number; old: boolean }
  | { kind: 'change'; account: number; which: number; change: Change }
  | { kind: 'delete'; account: number; which: number }
  | { kind: 'sync'; connection: number }
  | { kind: 'limit'; account: number; after: number; form: 'seconds' | 'date' | 'none' }
  | { kind: 'expire'; account: number }
  | { kind: 'purge-connection'; connection: number }
  | { kind: 'purge-user'; user: number; app: number }
  | { kind: 'ingest'; connection: number }
  | { kind: 'crash'; skip: number; answerLost: boolean }
  | { kind: 'compare'; connection: number }
  | {
      kind: 'break'
      connection: number
      which: number | null
      change: Change
      through: 'sync' | 'ingest'
      answerLost: boolean
    }

export const ACCOUNTS = 2
export const USERS = 2
const MOST_STEPS = 7

const account = fc.nat(ACCOUNTS - 1)
const user = fc.nat(USERS - 1)
/** Mostly one app; the other is another world. */
const app = fc.constantFrom(0, 0, 0, 1)
const connection = fc.nat(5)
const which = fc.nat(20)
const change = fc.constantFrom<Change[]>('messages', 'messages', 'title', 'time')

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('login' as const), user, account, app }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('add' as const), account, old: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change' as const), account, which, change }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), account, which }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('sync' as const), connection }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('limit' as const),
      account,
      after: fc.nat(4),
      form: fc.constantFrom('seconds' as const, 'date' as const, 'none' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('expire' as const), account }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge-connection' as const), connection }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge-user' as const), user, app }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ingest' as const), connection }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compare' as const), connection }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('break' as const),
      connection,
      which: fc.option(which),
      change,
      through: fc.constantFrom('sync' as const, 'ingest' as const),
      answerLost: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('crash' as const), skip: fc.nat(25), answerLost: fc.boolean() }),
  },
)

/** A history begins with somebody who connects. */
export const history: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.record({ kind: fc.constant('login' as const), user, account, app: fc.constant(0) }),
    fc.array(step, { maxLength: MOST_STEPS }),
  )
  .map(([first, rest]) => [first, ...rest])
