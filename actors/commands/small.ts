import { deriveId } from '../../core/ids.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { outboxEntry } from '../../schemas/outbox.ts'
import type { CommandWork } from './command-work.ts'
import { finishCommand } from './finish.ts'

/** Makes an active connection due at once, unless it is being synced already. */
export async function syncNow({ command, runtime }: CommandWork<'sync-now'>): Promise<void> {
  const now = runtime.clock.now()
  const { matchedCount } = await Connections.updateOne(
    { _id: command.args.connectionId, status: 'active', claimedBy: trusted({ $exists: false }) },
    { $set: { claimableAt: now, crashes: 0 }, $unset: { quarantinedAt: 1 } },
  )
  await finishCommand({ command, result: { accepted: matchedCount > 0 }, now })
}

/** Sends `test.event` to the app's webhook; returns the delivery's id, or null where the app has no webhook URL. */
export async function testEvent({ command, runtime }: CommandWork<'test-event'>): Promise<void> {
  const now = runtime.clock.now()
  const { appId, args, _id: cause } = command
  const app = await Apps.findById(appId).select({ webhookUrl: 1 }).lean<Pick<App, 'webhookUrl'>>()
  const event = outboxEntry({ cause, appId, event: 'test.event', payload: args, at: now })
  const deliveryId = app?.webhookUrl ? deriveId('delivery', event.id) : null
  await finishCommand({ command, result: { deliveryId }, events: [event], now })
}
