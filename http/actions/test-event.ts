import { SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { Apps } from '../../schemas/app/app.ts'
import type { CommandResults } from '../../schemas/command/command.ts'
import { inTime } from '../kit/deadline.ts'
import type { Act } from './act.ts'
import { runCommand } from './run-command.ts'

/** A test event is a command like any other; it takes as long as one look at the commands that wait. */
const WAIT_MS = 10 * SECOND

/** Tries an app's webhook out; its delivery is found among the others. Throws `app_not_found`, or `busy`. */
export async function sendTestEvent({
  appId,
  message,
  by,
  runtime,
  signal,
}: Act & { appId: string; message: string; signal?: AbortSignal }): Promise<CommandResults['test-event']> {
  if (!(await inTime(Apps.exists({ _id: appId }).exec(), runtime))) throw new ServiceError('app_not_found')
  const args = { userRef: 'test', message }
  const wait = { runtime, timeoutMs: WAIT_MS, ...(signal && { signal }) }
  return runCommand({ kind: 'test-event', appId, target: appId, by, args, ...wait })
}
