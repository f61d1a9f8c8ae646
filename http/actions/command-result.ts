import { ERRORS, type ErrorCode, ServiceError } from '../../core/errors.ts'
import type { Command, CommandResults } from '../../schemas/command/command.ts'

/** What a command that was waited for answers. Throws its failure as it was told, or `busy` where it has not ended. */
export function resultOf<K extends Command['kind']>(command: Command<K> | null): CommandResults[K] {
  if (!command) throw new ServiceError('busy')
  if (command.state === 'done' && command.result) return command.result
  const { code = '', message } = command.failure ?? {}
  if (!isErrorCode(code)) throw new ServiceError('internal')
  const error = new ServiceError(code)
  // The actor has filled in what the table's message leaves open.
  if (message) error.message = message
  throw error
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code)
