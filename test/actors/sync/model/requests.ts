import type { IngestResult, PurgeResult } from '../../../../sdk/src/index.ts'
import type { ModelApp } from './world.ts'

/** What the API answers to an export for a connection that is revoked (docs/behaviour.md, Deletion). */
export const REVOKED = [409, { error: 'Connection is revoked' }]

export const askToIngest = ({ ask }: ModelApp, connectionId: string, conversations: unknown[]) =>
  ask<IngestResult>(`/api/ingest-export?connectionId=${connectionId}`, { method: 'POST', body: conversations })

/** A deletion that takes longer than its request goes on; `late`: it was asked for again, and may have been answered zeros. */
export async function askToPurge({ appId, ask }: ModelApp, target: object) {
  for (let late = false; ; late = true) {
    const answer = await ask<PurgeResult>('/api/purge', { method: 'POST', body: { appId, ...target } })
    if (answer.status !== 503) return { ...answer, late }
  }
}
