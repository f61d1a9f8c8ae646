import { type Clock, MINUTE, SECOND } from '../../core/clock.ts'
import { Apps } from '../../schemas/app/app.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { Commands } from '../../schemas/command/command.ts'
import { type ConnectionStatus, Connections } from '../../schemas/connection/connection.ts'
import { dueBy, trusted } from '../../schemas/database.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { DeliveryLanes } from '../../schemas/delivery/delivery-lane.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import { Mails } from '../../schemas/mail/mail.ts'
import { Users } from '../../schemas/user/user.ts'
import type { Overview } from '../../wire/ops.ts'
import { isoOrNull } from './iso.ts'

type Counts = Overview['counts']

/** Counts are at least this old before they are made again (machine time). */
const FRESH_MS = SECOND
/** Of a large database counting takes long: it is at most this part of the time. */
const SHARE = 1 / 20
/** Older ones are not shown: whoever looks for the first time in a while waits for new ones. */
const SHOWN_MS = 2 * MINUTE
/** A sync that is due for longer is late: docs/behaviour.md, Sync cadence, has the first begin within a minute. */
const LATE_MS = MINUTE

/**
 * Counts what there is for the overview. Nobody who looks again and again waits for it: the last counts are shown, with their time, while
 * new ones are made behind; of a large database those are rarer, so that a dashboard never keeps it busy.
 */
export function createCounts({ clock }: { clock: Clock }): () => Promise<Counts> {
  let last: { counts: Counts; at: number; freshUntil: number } | undefined
  let counting: Promise<Counts> | undefined
  const renew = async (): Promise<Counts> => {
    const begin = clock.elapsed()
    try {
      const counts = await count(clock.now())
      const end = clock.elapsed()
      last = { counts, at: end, freshUntil: end + Math.max(FRESH_MS, (end - begin) / SHARE) }
      return counts
    } finally {
      counting = undefined
    }
  }
  return async () => {
    const now = clock.elapsed()
    if (last && now < last.freshUntil) return last.counts
    counting ??= renew()
    if (!last || now > last.at + Math.max(SHOWN_MS, 2 * (last.freshUntil - last.at))) return counting
    counting.catch(() => undefined)
    return last.counts
  }
}

const present = trusted({ $exists: true })
/** One after another: whoever looks meanwhile, or works, finds a database that does something else as well. */
async function count(now: Date): Promise<Counts> {
  const byStatus = (status: ConnectionStatus): Promise<number> => Connections.countDocuments({ status }).exec()
  return {
    at: now.toISOString(),
    apps: await Apps.estimatedDocumentCount(),
    users: await Users.estimatedDocumentCount(),
    conversations: await Conversations.estimatedDocumentCount(),
    connections: {
      active: await byStatus('active'),
      needs_reauth: await byStatus('needs_reauth'),
      revoked: await byStatus('revoked'),
      quarantined: await Connections.countDocuments({ quarantinedAt: present }),
    },
    syncs: await countSyncs(now),
    deliveries: { ...(await countWaiting()), dropped: await Deliveries.countDocuments({ state: 'dropped' }) },
    mails: {
      waiting: await Mails.countDocuments({ claimableAt: present }),
      dropped: await Mails.countDocuments({ state: 'dropped' }),
    },
    commands: { waiting: await Commands.countDocuments({ claimableAt: present }) },
    leases: { open: await Leases.countDocuments({ claimableAt: present }) },
  }
}

async function countSyncs(now: Date): Promise<Counts['syncs']> {
  const lateBy = new Date(now.getTime() - LATE_MS)
  const [due, late, oldest] = await Promise.all([
    Connections.countDocuments({ claimableAt: dueBy(now) }),
    Connections.countDocuments({ claimableAt: dueBy(lateBy) }),
    Connections.findOne({ claimableAt: dueBy(now) })
      .sort({ claimableAt: 1 })
      .select({ claimableAt: 1 })
      .lean<{ claimableAt: Date }>(),
  ])
  return { due, late, oldestDueAt: isoOrNull(oldest?.claimableAt) }
}

/** App by app, as deliveries are indexed: what has ended is never walked. */
async function countWaiting(): Promise<Pick<Counts['deliveries'], 'waiting' | 'failing' | 'oldestAt'>> {
  const lanes = await DeliveryLanes.find({ dueAt: present }).select({ _id: 1 }).lean<{ _id: string }[]>()
  const each = await Promise.all(lanes.map(({ _id }) => countWaitingOf(_id)))
  const oldest = each.flatMap(({ oldestAt }) => oldestAt ?? []).sort()[0]
  return {
    waiting: each.reduce((sum, { waiting }) => sum + waiting, 0),
    failing: each.reduce((sum, { failing }) => sum + failing, 0),
    oldestAt: oldest ?? null,
  }
}

async function countWaitingOf(appId: string): Promise<{ waiting: number; failing: number; oldestAt: string | null }> {
  const [counted] = await Deliveries.aggregate<{ waiting: number; failing: number; oldest: Date }>([
    { $match: { appId, claimableAt: { $gte: new Date(0) } } },
    {
      $group: {
        _id: null,
        waiting: { $sum: 1 },
        failing: { $sum: { $cond: [{ $gt: [{ $size: { $ifNull: ['$attempts.error', []] } }, 0] }, 1, 0] } },
        oldest: { $min: '$createdAt' },
      },
    },
  ])
  return {
    waiting: counted?.waiting ?? 0,
    failing: counted?.failing ?? 0,
    oldestAt: isoOrNull(counted?.oldest),
  }
}
