import { Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
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
