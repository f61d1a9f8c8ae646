import { SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import type { CommandResults } from '../../schemas/command/command.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { inTime } from '../kit/deadline.ts'
import type { Act } from './act.ts'
import { runCommand } from './run-command.ts'

const WAIT_MS = 10 * SECOND

/** Makes a connection due for a sync at once. Throws `connection_not_found`, `connection_revoked`, or `busy`. */
export async function syncNow({
  connectionId,
  by,
  runtime,
  signal,
}: Act & { connectionId: string; signal?: AbortSignal }): Promise<CommandResults['sync-now']> {
  const found = isUuid(connectionId)
    ? await inTime(Connections.findById(connectionId).lean<Connection>().exec(), runtime)
    : null
  if (!found) throw new ServiceError('connection_not_found')
  if (found.status === 'revoked') throw new ServiceError('connection_revoked')
  const wait = { runtime, timeoutMs: WAIT_MS, ...(signal && { signal }) }
  return runCommand({
    kind: 'sync-now',
    appId: found.appId,
    target: connectionId,
    by,
    args: { connectionId },
    ...wait,
  })
}
