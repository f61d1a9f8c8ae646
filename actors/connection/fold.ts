import { deleteBrowserProfile } from '../../schemas/connection/browser-profile.ts'
import type { Connection } from '../../schemas/connection/connection.ts'
import { withEvents } from '../../schemas/outbox.ts'
import { cutShortEvents } from '../archive/counts.ts'
import type { ActorRuntime } from '../runtime.ts'
import { releaseAt, writeHeld } from './claimed.ts'

/**
 * Ends a connection whose account was connected anew (docs/behaviour.md, Reconnecting): it becomes `revoked`, its key and credential go. Its
 * conversations stay where they are, in the account's archive, which its successor points at (docs/architecture.md, idea 6).
 */
export async function foldConnection({
  predecessor,
  runtime,
}: {
  /** As held by this actor. */
  predecessor: Connection
  runtime: ActorRuntime
}): Promise<void> {
  const now = runtime.clock.now()
  const events = await cutShortEvents({ connection: predecessor, at: now })
  await deleteBrowserProfile({ connectionId: predecessor._id })
  const revoked = {
    $set: { status: 'revoked', revokedAt: now },
    $unset: { ...releaseAt(null).$unset, ...REVOKED },
  }
  await writeHeld(predecessor, withEvents(revoked, events, now))
}

/** What a revoked connection no longer has. */
export const REVOKED = {
  key: 1,
  archiveKey: 1,
  credential: 1,
  archiveId: 1,
  emailHash: 1,
  device: 1,
  quarantinedAt: 1,
  awaitsFirstSync: 1,
  'sync.runId': 1,
} as const
