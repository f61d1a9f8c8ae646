import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { carriedTrace } from '../../core/tracing.ts'
import { isDuplicate } from '../database.ts'
import type { Principal } from '../principal.ts'
import { type Command, type CommandArguments, type CommandKind, Commands } from './command.ts'

/** How often a waiting caller looks at its command's document (machine ms): soon at first, then less often. */
const FIRST_LOOK_MS = 10
const LONGEST_LOOK_MS = 200

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
export async function writeCommand<K extends CommandKind>({
  id = newId(),
  now,
  claimableAt = now,
  ...command
}: NewCommand<K>): Promise<string> {
  try {
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
    })
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
  return id
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
  for (let look = FIRST_LOOK_MS; ; look = Math.min(look * 1.5, LONGEST_LOOK_MS)) {
    const command = await Commands.findById(id).lean<Command<K>>()
    if (command && command.state !== 'waiting') return command
    if (clock.elapsed() >= end) return null
    await clock.sleep(look, signal)
  }
}
