import { deleteExportUploadsOf } from '../../../schemas/archive/export-upload.ts'
import { Accounts } from '../../../schemas/connection/account.ts'
import { deleteBrowserProfile } from '../../../schemas/connection/browser-profile.ts'
import { type Connection, Connections } from '../../../schemas/connection/connection.ts'
import { deleteArchive } from '../../archive/purge-data.ts'

/** Deletes all that was a settled connection's; doing it again is harmless. Throws the signal's reason between two batches. */
export async function erase({
  connection: { _id, accountId, purge },
  now,
  signal,
}: {
  connection: Connection
  now: Date
  signal: AbortSignal
}): Promise<void> {
  await deleteBrowserProfile({ connectionId: _id })
  await deleteExportUploadsOf({ connectionId: _id })
  const archiveId = purge?.archiveId
  if (archiveId) {
    await Accounts.updateOne(
      { _id: accountId, archiveId },
      { $set: { backfill: { done: false } }, $unset: { archiveId: 1 } },
    )
    await deleteArchive({ archiveId, signal })
  }
  await Connections.updateOne({ _id }, { $set: { 'purge.finishedAt': now } })
}
