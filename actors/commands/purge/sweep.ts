import { DAY, HOUR, MINUTE } from '../../../core/clock.ts'
import { deriveId } from '../../../core/ids.ts'
import { deleteExportUploadsOf } from '../../../schemas/archive/export-upload.ts'
import type { Command, CommandArguments } from '../../../schemas/command/command.ts'
import { writeCommand } from '../../../schemas/command/commands.ts'
import { deleteBrowserProfile } from '../../../schemas/connection/browser-profile.ts'
import { cancelReservationsOf } from '../../../schemas/connection/reservation.ts'
import { deleteEndedLeasesOf, endOutdatedLeases } from '../../../schemas/lease/lease-ends.ts'
import { deleteOutdatedCaptures } from '../../../schemas/user/capture.ts'
import { presentGeneration } from '../../../schemas/user/user.ts'
import { deleteArchive } from '../../archive/purge-data.ts'
import type { CommandWork } from '../command-work.ts'
import { finishCommand } from '../finish.ts'

/**
 * When a deletion is gone over again (machine time). A writer that stalled has ended a minute later; one whose process was frozen for
 * longer finds its claim gone, but may have had a write on its way.
 */
const SWEEPS_AFTER_MS = [MINUTE, HOUR, DAY]

/** Has what a purge deleted gone over again later, in case that a writer that had lost its claim left something. */
export async function sweepLater({
  command: { _id, appId },
  args,
}: {
  command: Command<'purge'>
  args: CommandArguments['sweep']
}): Promise<void> {
  for (const afterMs of SWEEPS_AFTER_MS) {
    await writeCommand({
      id: deriveId('sweep', _id, String(afterMs)),
      kind: 'sweep',
      appId,
      target: _id,
      by: { kind: 'service', id: 'purge' },
      args,
      now: args.before,
      claimableAt: new Date(args.before.getTime() + afterMs),
    })
  }
}

/** Deletes what was left. */
export async function sweep({ command, runtime, signal }: CommandWork<'sweep'>): Promise<void> {
  const { archiveIds, connectionIds, userId, before } = command.args
  let conversationsDeleted = 0
  for (const archiveId of archiveIds) conversationsDeleted += await deleteArchive({ archiveId, signal })
  for (const connectionId of connectionIds) {
    await deleteBrowserProfile({ connectionId })
    await deleteExportUploadsOf({ connectionId })
  }
  if (userId) {
    await deleteEndedLeasesOf({ userId, before })
    // Of flows that began before the deletion, and whose process stalled until after it.
    const generation = await presentGeneration({ userId })
    const now = runtime.clock.now()
    await endOutdatedLeases({ userId, generation, now })
    await deleteOutdatedCaptures({ userId, generation, now })
    // A connect of a flow that began since then takes its place again.
    await cancelReservationsOf({ userId })
  }
  await finishCommand({ command, result: { conversationsDeleted }, now: runtime.clock.now() })
}
