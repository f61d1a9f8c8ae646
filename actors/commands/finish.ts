import type { ErrorCode, ServiceError } from '../../core/errors.ts'
import { heldBy } from '../../schemas/claims.ts'
import { type Command, type CommandKind, type CommandResults, Commands } from '../../schemas/command/command.ts'
import { failureOf } from '../../schemas/command/failure.ts'
import { flowEnded } from '../../schemas/flow-ended.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { type OutboxEntry, withEvents } from '../../schemas/outbox.ts'
import type { FlowReason } from '../../wire/flow-ends.ts'

/** Whatever of a command's arguments is secret goes with its end: keys that lie in a done command could open what was deleted. */
const SECRET_ARGUMENTS = {
  'args.key': 1,
  'args.credential': 1,
  'args.profile': 1,
  'args.emailHash': 1,
  'args.device': 1,
}

const ENDED = { claimableAt: 1, claimedBy: 1, ...SECRET_ARGUMENTS }

/** Ends a command with its result and the events that tell of it, in one write of its holder. Throws `ClaimLost`. */
export async function finishCommand<K extends CommandKind>({
  command,
  result,
  events = [],
  now,
}: {
  command: Command<K>
  result: CommandResults[K]
  events?: OutboxEntry[]
  now: Date
}): Promise<void> {
  const all = [...events, ...flowEvents(command, 'completed', now)]
  await end(command, withEvents({ $set: { state: 'done', result, doneAt: now }, $unset: ENDED }, all, now))
}

const REASONS: Partial<Record<ErrorCode, FlowReason>> = { account_held: 'account_held', flow_ended: 'deleted' }

/** A connect flow that was handed over ends as its command does. */
function flowEvents({ kind, appId, args }: Command, reason: FlowReason, at: Date): OutboxEntry[] {
  const { flowId, userRef } = args as Partial<Command<'connect'>['args']>
  if (kind !== 'connect' || flowId === undefined || userRef === undefined) return []
  return [flowEnded({ flowId, appId, userRef, reason, at })]
}

/** Ends a command that cannot be carried out; the one who waits is told `error`. */
export async function failCommand({
  command,
  error,
  now,
}: {
  command: Command
  error: ServiceError
  now: Date
}): Promise<void> {
  const events = flowEvents(command, REASONS[error.code] ?? 'not_completed', now)
  const update = { $set: { state: 'failed', failure: failureOf(error), doneAt: now }, $unset: ENDED }
  await end(command, withEvents(update, events, now))
}

async function end(command: Command, update: Record<string, unknown>): Promise<void> {
  // Ended already where only the answer to an earlier write was lost.
  const { matchedCount } = await Commands.updateOne({ ...heldBy(command), state: 'waiting' }, update)
  if (matchedCount === 0) throw new ClaimLost('the command is held by another actor')
}
