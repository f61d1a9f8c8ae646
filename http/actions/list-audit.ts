import { type Command, Commands } from '../../schemas/command/command.ts'
import { trusted } from '../../schemas/database.ts'
import { AuditEntries, type AuditEntry } from '../../schemas/operations/audit.ts'
import { newestOf } from './newest.ts'

/** Who did what, the newest of either: commands that people asked for, and what needs none. */
export async function listAudit({
  appId,
  limit,
}: {
  appId?: string | undefined
  limit: number
}): Promise<{ entries: AuditEntry[]; commands: Command[] }> {
  const [entries, commands] = await Promise.all([
    AuditEntries.find(appId === undefined ? {} : { appId })
      .sort({ at: -1 })
      .limit(limit)
      .lean<AuditEntry[]>(),
    newestOf(Commands, { appId, filter: { 'by.kind': trusted({ $ne: 'service' }) }, limit }),
  ])
  return { entries, commands }
}
