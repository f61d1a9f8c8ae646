import { type Clock, SECOND } from '../../core/clock.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { type ActorSnapshot, lookAtActors, snapshotsSince } from '../../schemas/operations/actor-snapshot.ts'
import type { OpsActors } from '../../wire/ops.ts'
import type { OpsPart } from './handler.ts'
import { isoOrNull } from './iso.ts'
import { viewProcesses } from './overview.ts'

const MOST_QUARANTINED = 200
/** Processes write once a second: what is older is of a look before this one. */
const FRESH_MS = 3 * SECOND
/** So long the first look waits for the processes to notice it. */
const FIRST_LOOK_MS = 2.5 * SECOND
const LOOK_EVERY_MS = 100

type Processes = Awaited<ReturnType<typeof viewProcesses>>

/** The live tree over all processes, as each wrote it down, and the connections that were taken out of work. */
export const actorHandlers: OpsPart<'getActors'> = ({ clock }) => ({
  getActors: async () => {
    const now = clock.now()
    await lookAtActors(now)
    const [processes, quarantined] = await Promise.all([viewProcesses({ clock }), findQuarantined()])
    const snapshots = await freshSnapshots(processes, clock)
    return {
      processes: processes.map((process) => ({ ...process, ...viewSnapshot(snapshots.get(process.id)) })),
      quarantined: quarantined.map(({ _id, appId, crashes, quarantinedAt, sync }) => ({
        id: _id,
        appId,
        crashes,
        quarantinedAt: isoOrNull(quarantinedAt) ?? now.toISOString(),
        outcome: sync.outcome ?? null,
      })),
    }
  },
})

/** By process; waits a moment for processes with actors that have not written theirs yet. */
async function freshSnapshots(processes: Processes, clock: Clock): Promise<Map<string, ActorSnapshot>> {
  const ids = processes.filter(({ kind, state }) => kind === 'actors' && state === 'running').map(({ id }) => id)
  const end = clock.elapsed() + FIRST_LOOK_MS
  for (;;) {
    const since = new Date(clock.now().getTime() - FRESH_MS)
    const found = ids.length === 0 ? [] : await snapshotsSince(ids, since)
    if (found.length === ids.length || clock.elapsed() > end) return new Map(found.map((each) => [each._id, each]))
    await clock.sleep(LOOK_EVERY_MS)
  }
}

const findQuarantined = (): Promise<Connection[]> =>
  Connections.find({ quarantinedAt: trusted({ $exists: true }) })
    .select({ appId: 1, crashes: 1, quarantinedAt: 1, 'sync.outcome': 1 })
    .sort({ quarantinedAt: -1 })
    .limit(MOST_QUARANTINED)
    .lean<Connection[]>()

const viewSnapshot = (
  snapshot: ActorSnapshot | undefined,
): Pick<OpsActors['processes'][number], 'actors' | 'total'> => ({
  actors: (snapshot?.actors ?? []).map((actor) => ({ ...actor, since: actor.since.toISOString() })),
  total: snapshot?.total ?? 0,
})
