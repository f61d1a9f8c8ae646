import type { Command, CommandKind } from '../../schemas/command/command.ts'
import type { ActorRuntime } from '../runtime.ts'

/** One claimed command and what it is carried out with. */
export interface CommandWork<K extends CommandKind> {
  command: Command<K>
  runtime: ActorRuntime
  /** Aborted when the claim is lost, when another command needs the connection, or when the process stops. */
  signal: AbortSignal
}
