import type { ActorsCommandKind, CommandResults } from '../../schemas/command/command.ts'
import { awaitCommand, type NewCommand, writeCommand } from '../../schemas/command/commands.ts'
import { inTime } from '../kit/deadline.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { resultOf } from './command-result.ts'

/**
 * Writes a command and waits for its result. Throws its failure, or `busy` where it takes longer than `timeoutMs`; it goes on all the
 * same. `signal` ends the wait only.
 */
export async function runCommand<K extends ActorsCommandKind>({
  runtime: { clock },
  timeoutMs,
  signal,
  ...command
}: Omit<NewCommand<K>, 'now'> & {
  runtime: Pick<HttpRuntime, 'clock'>
  timeoutMs: number
  signal?: AbortSignal
}): Promise<CommandResults[K]> {
  const id = await inTime(writeCommand({ ...command, now: clock.now() }), { clock })
  return resultOf(await awaitCommand<K>({ id, clock, timeoutMs, ...(signal && { signal }) }))
}
