import type { Clock } from '../../core/clock.ts'
import { Apps } from '../../schemas/app/app.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { Commands } from '../../schemas/command/command.ts'
import { type ConnectionStatus, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import { Mails } from '../../schemas/mail/mail.ts'
import { Users } from '../../schemas/user/user.ts'
import type { Overview } from '../../wire/ops.ts'

type Counts = Overview['counts']

/** Counts are at least this old before they are made again (machine time). */
const FRESH_MS = 1_000
/** Of a large database counting takes long: it is at most this part of the time. */
const SHARE = 1 / 20

/** Counts what there is for the overview, without letting a dashboard that asks often keep the database busy. */
export function createCounts({ clock }: { clock: Clock }): () => Promise<Counts> {
  let last: { counts: Promise<Counts>; freshUntil: number } | undefined
  return () => {
    const begin = clock.elapsed()
    if (last && begin < last.freshUntil) return last.counts
    const current = { counts: count(clock.now()), freshUntil: Number.POSITIVE_INFINITY }
    last = current
    current.counts.then(
      () => {
        const end = clock.elapsed()
        current.freshUntil = end + Math.max(FRESH_MS, (end - begin) / SHARE)
      },
      () => {
        last = undefined
      },
    )
    return current.counts
  }
}

const present = trusted({ $exists: true })

async function count(now: Date): Promise<Counts> {
  const [apps, users, conversations, byStatus, quarantined, waiting, dropped, mails, lostMails, commands, leases] =
    await Promise.all([
      Apps.estimatedDocumentCount(),
      Users.estimatedDocumentCount(),
      Conversations.estimatedDocumentCount(),
      Connections.aggregate<{ _id: ConnectionStatus; count: number }>([
        { $group: { _id: '$status', count: { $sum: 1 } } },
      ]),
      Connections.countDocuments({ quarantinedAt: present }),
      Deliveries.countDocuments({ claimableAt: present }),
      Deliveries.countDocuments({ state: 'dropped' }),
      Mails.countDocuments({ claimableAt: present }),
      Mails.countDocuments({ state: 'dropped' }),
      Commands.countDocuments({ claimableAt: present }),
      Leases.countDocuments({ claimableAt: present }),
    ])
  const status = new Map(byStatus.map((each) => [each._id, each.count]))
  return {
    at: now.toISOString(),
    apps,
    users,
    conversations,
    connections: {
      active: status.get('active') ?? 0,
      needs_reauth: status.get('needs_reauth') ?? 0,
      revoked: status.get('revoked') ?? 0,
      quarantined,
    },
    deliveries: { waiting, dropped },
    mails: { waiting: mails, dropped: lostMails },
    commands: { waiting: commands },
    leases: { open: leases },
  }
}
