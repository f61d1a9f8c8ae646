import { Connections } from '../../../../schemas/connection/connection.ts'
import { trusted } from '../../../../schemas/database.ts'
import { until } from '../../../support/until.ts'
import { connectionOf, makeDue } from '../support.ts'
import { at, type Run } from './history.ts'
import type { ModelConnection } from './model.ts'

/** Histories side by side look at their connections all the time. */
export const LOOK_EVERY_MS = 150

/** Makes an active connection due; false while an actor is at work with it. */
export async function makeIdleDue(id: string, fields: object = {}): Promise<boolean> {
  const { matchedCount } = await Connections.updateOne(
    { _id: id, status: 'active', claimedBy: trusted({ $exists: false }) },
    { $set: { claimableAt: new Date(0), ...fields } },
  )
  return matchedCount > 0
}

/** Lets what is under way come to its end: each of these that is active reads its account completely once more. */
export async function settle({ world, accounts }: Run, connections: ModelConnection[]): Promise<void> {
  const active = connections.filter(({ status }) => status === 'active')
  const emails = new Set(active.map(({ account }) => at(accounts, account).email))
  for (const account of emails) await world.site.control({ action: 'limit', account, after: null })
  await Promise.all(active.map(({ id }) => readCompletely(id)))
}

async function readCompletely(id: string): Promise<void> {
  const options = { everyMs: LOOK_EVERY_MS }
  await until('an idle connection', () => makeIdleDue(id, { 'sync.outcome': 'settling' }), options)
  await until(
    `a complete sync of ${id}`,
    async () => {
      const { sync, claimedBy } = await connectionOf(id)
      if (!claimedBy && sync.outcome?.startsWith('complete')) return true
      if (!claimedBy && sync.outcome !== 'settling') await makeDue(id)
      return false
    },
    options,
  )
}

/** The end of a history: its connections are never due again, so that they cost the histories after it nothing. */
export async function rest({ apps }: Run): Promise<void> {
  const ours = { appId: trusted({ $in: apps.map(({ appId }) => appId) }), claimedBy: trusted({ $exists: false }) }
  await Connections.updateMany(ours, { $unset: { claimableAt: 1 } })
}
