import type { Model } from 'mongoose'
import { CLAIM_MS, type Claimable } from '../../schemas/claims.ts'
import { Commands } from '../../schemas/command/command.ts'
import { Accounts } from '../../schemas/connection/account.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import type { OpsActors } from '../../wire/ops.ts'
import type { OpsPart } from './handler.ts'
import { isoOrNull } from './iso.ts'
import { viewProcesses } from './overview.ts'

const MOST = 200

/** What is worked on now, by whichever process, and what was taken out of work. */
export const actorHandlers: OpsPart<'getActors'> = ({ clock }) => ({
  getActors: async () => {
    const now = clock.now()
    const [processes, connections, commands, accounts, quarantined] = await Promise.all([
      viewProcesses({ clock }),
      held(Connections, now),
      held(Commands, now),
      held(Accounts, now),
      Connections.find({ quarantinedAt: trusted({ $exists: true }) })
        .select({ appId: 1, crashes: 1, quarantinedAt: 1, 'sync.outcome': 1 })
        .sort({ quarantinedAt: -1 })
        .limit(MOST)
        .lean<Connection[]>(),
    ])
    return {
      processes: processes.filter(({ kind }) => kind === 'actors'),
      working: [
        ...connections.map((each) => working('connection', each, each.sync.runId ? 'sync' : 'change')),
        ...commands.map((each) => working('command', each, `${each.kind} ${each.target}`)),
        ...accounts.map((each) => working('account', each, 'connect or purge')),
      ],
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

/** A claim is never longer than `CLAIM_MS` away, so the held ones are one short range of the index. */
const held = <T extends Claimable>(model: Model<T>, now: Date): Promise<T[]> =>
  model
    .find({
      claimableAt: trusted({ $exists: true, $gt: now, $lte: new Date(now.getTime() + CLAIM_MS) }),
      claimedBy: trusted({ $exists: true }),
    })
    .limit(MOST)
    .lean<T[]>()

const working = (
  kind: OpsActors['working'][number]['kind'],
  { _id, appId, claimableAt, fence }: Claimable & { _id: string; appId: string },
  what: string,
): OpsActors['working'][number] => ({ kind, id: _id, appId, what, heldUntil: isoOrNull(claimableAt) ?? '', fence })
