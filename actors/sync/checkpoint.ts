import type { Held } from '../../schemas/claims.ts'
import type { Checkpoint } from '../archive/writer.ts'
import { writeHeld } from '../connection/claimed.ts'

/** The checkpoints of one sync: each notes how far it has got. */
export function createCheckpoint({
  connection,
  progress,
}: {
  /** As claimed. */
  connection: Held
  /** Conversations that were left as they were, and that were stored. */
  progress: { unchanged: number; written: number }
}): Checkpoint {
  let batches = 0
  return async (archive) => {
    if (archive === 'settled') batches += 1
    const settled = archive === 'settled' && { settled: { fence: connection.fence, batches } }
    // A sync that gets on is not what kills its process, however often that dies.
    const counted = progress.written > 0 && { crashes: 0 }
    await writeHeld(connection, {
      $set: { 'sync.unchanged': progress.unchanged, ...counted, ...settled },
      ...(archive === 'moving' && { $unset: { settled: 1 } }),
    })
  }
}
