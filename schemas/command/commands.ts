import { type Clock, SECOND } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { carriedTrace } from '../../core/tracing.ts'
import { batched } from '../batched.ts'
import { answeredWithin, DatabaseSilent, trusted, unlessDuplicate } from '../database.ts'
import type { OutboxEntry } from '../outbox.ts'
import type { Principal } from '../principal.ts'
import { hear } from '../wakeups.ts'
import {
  type ActorsCommandKind,
  type Command,
  type CommandArguments,
  type CommandKind,
  type CommandResults,
  Commands,
} from './command.ts'

/** A waiting caller looks at its command's document when it is told of an end, and so often all the same (machine ms): soon at first, then less often. */
const FIRST_LOOK_MS = 10
const LONGEST_LOOK_MS = 200
/** A look that is not answered by then (machine ms) is not waited for alone: the next one comes beside it, on another connection. */
const LOOK_LIMIT_MS = SECOND

export interface NewCommand<K extends CommandKind> {
  /** A derived id makes a repeated command the same command; by default a new one. */
  id?: string
  kind: K
  appId: string
  target: string
  by: Principal
  args: CommandArguments[K]
  now: Date
  /** When it may begin; at once by default. */
  claimableAt?: Date
}

/** Writes a command; it is carried out by whichever actors process claims it. Returns its id. */
export async function writeCommand<K extends ActorsCommandKind>({
  id = newId(),
  now,
  claimableAt = now,
  ...command
}: NewCommand<K>): Promise<string> {
  await Commands.create({
    _id: id,
    ...command,
    state: 'waiting',
    createdAt: now,
    claimableAt,
    fence: 0,
    crashes: 0,
    outbox: [],
    ...carriedTrace(),
  }).catch(unlessDuplicate)
  return id
}

/** Writes a command that needs no actor, with its result and the events that tell of it. */
export async function writeDoneCommand<K extends Exclude<CommandKind, ActorsCommandKind>>({
  id: _id,
  now,
  result,
  events,
  ...command
}: Required<Omit<NewCommand<K>, 'claimableAt'>> & { result: CommandResults[K]; events: OutboxEntry[] }): Promise<void> {
  const outbox = { outbox: events, outboxAt: now }
  const times = { createdAt: now, doneAt: now }
  await Commands.create({ _id, ...command, state: 'done', result, ...times, fence: 0, crashes: 0, ...outbox })
}

/** Waits for a command's end; null when it has not ended within `timeoutMs` (it goes on all the same). */
export async function awaitCommand<K extends CommandKind>({
  id,
  clock,
  timeoutMs,
  signal,
}: {
  id: string
  clock: Clock
  timeoutMs: number
  signal?: AbortSignal
}): Promise<Command<K> | null> {
  const end = clock.elapsed() + timeoutMs
  const hearing = hear('answers')
  let found: Command | undefined
  const look = async (): Promise<void> => {
    found = (await ended(id)) ?? found
  }
  try {
    for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * 1.5, LONGEST_LOOK_MS)) {
      await answeredWithin(LOOK_LIMIT_MS, look()).catch(unlessSilent)
      if (found) return found as Command<K>
      if (clock.elapsed() >= end) return null
      await hearing.pause(waitMs, signal)
    }
  } finally {
    hearing.stop()
  }
}

function unlessSilent(error: unknown): void {
  if (!(error instanceof DatabaseSilent)) throw error
}

/** One read for all that look at the same time: each end makes everybody look who waits. */
const ended = batched(async (ids: string[]): Promise<(Command | undefined)[]> => {
  const filter: Record<string, unknown> = { _id: trusted({ $in: ids }), state: trusted({ $ne: 'waiting' }) }
  const found = new Map((await Commands.find(filter).lean<Command[]>()).map((command) => [command._id, command]))
  return ids.map((id) => found.get(id))
})
