import { ServiceError } from '../../core/errors.ts'
import type { Command, CommandResults } from '../../schemas/command/command.ts'
import { errorOfFailure } from '../../schemas/command/failure.ts'

/** The result of a command that was waited for. Throws its failure, or `busy` where it has not ended. */
export function resultOf<K extends Command['kind']>(command: Command<K> | null): CommandResults[K] {
  if (!command) throw new ServiceError('busy')
  if (command.state === 'done' && command.result) return command.result
  throw command.failure ? errorOfFailure(command.failure) : new ServiceError('internal')
}
