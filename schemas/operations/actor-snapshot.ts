import mongoose, { type Model } from 'mongoose'
import { SECOND } from '../../core/clock.ts'
import { trusted, unlessDuplicate } from '../database.ts'
import { embedded } from '../embedded.ts'

export type ActorKind = 'connection' | 'command' | 'delivery'

/** A live actor as operators see it. */
export interface LiveActor {
  /** Its supervisors from the root, then the id of its document: `/connections/shard-0/<id>`. */
  path: string
  kind: ActorKind
  /** `starting` until it takes its first message. */
  state: 'starting' | 'working'
  /** Messages that wait for it. */
  mailbox: number
  /** When it began what it does now. */
  since: Date
  doing: string | null
  /** Crashes in a row of what it works for. */
  crashes: number
}

/** The actors of one process, written beside its heartbeat while somebody looks. `_id` is that of the process's record. */
export interface ActorSnapshot {
  _id: string
  at: Date
  /** The oldest. */
  actors: LiveActor[]
  /** How many there are, those left out too. */
  total: number
}

/** As many as a dashboard can show and a document can hold without weight; the totals tell of the rest. */
const MOST_ACTORS = 500
/** Whoever looks asks again within this time (machine ms). */
const LOOKING_MS = 10 * SECOND
/** What nobody looked at for so long is deleted. */
const KEPT_S = 60

const schema = new mongoose.Schema<ActorSnapshot>(
  {
    _id: { type: String, required: true },
    at: { type: Date, required: true },
    actors: [
      embedded({
        path: String,
        kind: String,
        state: String,
        mailbox: Number,
        since: Date,
        doing: String,
        crashes: Number,
      }),
    ],
    total: { type: Number, required: true },
  },
  { collection: 'actor_snapshots', versionKey: false },
)
schema.index({ at: 1 }, { expireAfterSeconds: KEPT_S })

export const ActorSnapshots: Model<ActorSnapshot> = mongoose.model<ActorSnapshot>('ActorSnapshot', schema)

/** Until when somebody looks at the actors: one small document, which the route renews and processes read with their heartbeat. */
interface Looking {
  _id: string
  until: Date
}

const LOOKING_ID = 'actors'
const lookingSchema = new mongoose.Schema<Looking>(
  { _id: { type: String, required: true }, until: { type: Date, required: true } },
  { collection: 'looking', versionKey: false },
)
export const Lookings: Model<Looking> = mongoose.model<Looking>('Looking', lookingSchema)

/** Has every process write its snapshot for the next ten seconds. */
export async function lookAtActors(now: Date): Promise<void> {
  const until = new Date(now.getTime() + LOOKING_MS)
  // Where two began to look at once the other's mark does for both.
  await Lookings.updateOne({ _id: LOOKING_ID }, { $max: { until } }, { upsert: true }).catch(unlessDuplicate)
}

/** Writes down the actors of a process where somebody looks; else it is one small read. */
export async function snapshotActors({
  processId,
  list,
  now,
}: {
  processId: string
  list: () => LiveActor[]
  now: Date
}): Promise<void> {
  const looking = await Lookings.findOne({ _id: LOOKING_ID, until: trusted({ $gte: now }) }).lean()
  if (!looking) return
  const actors = list().sort((a, b) => a.since.getTime() - b.since.getTime())
  await ActorSnapshots.updateOne(
    { _id: processId },
    { $set: { at: now, actors: actors.slice(0, MOST_ACTORS), total: actors.length } },
    { upsert: true },
  )
}

/** The snapshots of these processes that were written since. */
export const snapshotsSince = (processIds: string[], since: Date): Promise<ActorSnapshot[]> =>
  ActorSnapshots.find({ _id: trusted({ $in: processIds }), at: trusted({ $gte: since }) }).lean<ActorSnapshot[]>()
