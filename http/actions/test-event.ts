import { ServiceError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import type { CommandResults } from '../../schemas/command/command.ts'
import { writeDoneCommand } from '../../schemas/command/commands.ts'
import { deliveryIdOf, outboxEntry } from '../../schemas/outbox.ts'
import { inTime } from '../kit/deadline.ts'
import type { Act } from './act.ts'

/**
 * Tries an app's webhook out: `test.event` leaves through the outbox of a command, as every event leaves through what it tells of. Returns its
 * delivery's id, null where the app has no webhook URL. Throws `app_not_found`.
 */
export async function sendTestEvent({
  appId,
  message,
  by,
  runtime: { clock },
}: Act & { appId: string; message: string }): Promise<CommandResults['test-event']> {
  const found = Apps.findById(appId).select({ webhookUrl: 1 }).lean<Pick<App, 'webhookUrl'>>()
  const app = await inTime(found.exec(), { clock })
  if (!app) throw new ServiceError('app_not_found')
  const [id, now] = [newId(), clock.now()]
  const args = { userRef: 'test', message }
  const event = outboxEntry({ cause: id, appId, event: 'test.event', payload: args, at: now })
  const result = { deliveryId: app.webhookUrl ? deliveryIdOf(event.id) : null }
  const command = { id, kind: 'test-event', appId, target: appId, by, args, now } as const
  await inTime(writeDoneCommand({ ...command, result, events: [event] }), { clock })
  return result
}
