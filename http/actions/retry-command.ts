import { ServiceError } from '../../core/errors.ts'
import { deriveId } from '../../core/ids.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { writeCommand } from '../../schemas/command/commands.ts'
import { inTime } from '../kit/deadline.ts'
import type { Act } from './act.ts'

/**
 * Has an ingestion done again that was set aside after crashes, as a command of its own; of the others nothing is left that could be. Asked
 * twice it is done once. Throws `not_found` for any other command.
 */
export async function retryCommand({
  id,
  by,
  runtime: { clock },
}: Act & { id: string }): Promise<{ commandId: string }> {
  const find = Commands.findOne({ _id: id, kind: 'ingest', state: 'failed', 'failure.code': 'internal' })
  const failed = await inTime(find.lean<Command<'ingest'>>().exec(), { clock })
  if (!failed) throw new ServiceError('not_found')
  const { kind, appId, target, args } = failed
  const retry = writeCommand({ id: deriveId('retry', id), kind, appId, target, by, args, now: clock.now() })
  return { commandId: await inTime(retry, { clock }) }
}
