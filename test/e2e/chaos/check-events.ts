import type { Findings } from './findings.ts'
import type { History } from './history.ts'
import { collections } from './settle.ts'
import type { ChaosWorld } from './world.ts'

/** Each thing that happened was told under one deliveryId, and nothing else was. */
export async function checkEvents(
  { wrong, all, live }: Findings,
  { world: { client, receiver }, history }: { world: ChaosWorld; history: History },
): Promise<void> {
  const { commands, deliveries, database } = collections(client)
  const bodies = new Map<string, string>()
  for (const { deliveryId, rawBody } of receiver.requests) {
    if ((bodies.get(deliveryId) ?? rawBody) !== rawBody) wrong.push(`the attempts of ${deliveryId} differ`)
    bodies.set(deliveryId, rawBody)
  }
  for (const { _id, state, event, attempts } of await deliveries.find().toArray()) {
    if (state !== 'delivered') wrong.push(`the ${event} ${_id} is ${state} after ${attempts.length} attempts`)
    if (!bodies.has(_id)) wrong.push(`the ${event} ${_id} was not received`)
  }
  const told = <T>(event: string) => receiver.named(event).map(({ payload }) => payload as T)

  const created = told<{ connectionId: string; replaces: string[] }>('connection.created')
  same(wrong, 'connection.created', {
    happened: all.filter(({ appId }) => appId).map(({ _id }) => _id),
    told: created.map(({ connectionId }) => connectionId),
  })
  for (const { connectionId, replaces } of created)
    if (JSON.stringify(all.find(({ _id }) => _id === connectionId)?.replaces) !== JSON.stringify(replaces))
      wrong.push(`what connection.created of ${connectionId} says of what it replaces`)

  const purges = await commands.find({ kind: 'purge', state: 'done' }).toArray()
  const purgedBy = (id: string) => all.filter(({ purge }) => purge?.commandId === id).map(({ _id }) => _id)
  same(wrong, 'data.deleted', {
    happened: purges.flatMap(({ _id, args }) => ('userId' in args ? purgedBy(_id) : [])),
    told: told<{ connectionIds: string[] }>('data.deleted').flatMap(({ connectionIds }) => connectionIds),
  })
  same(wrong, 'connection.deleted', {
    happened: purges.flatMap(({ _id, args }) => ('userId' in args ? [] : purgedBy(_id))),
    told: told<{ connectionId: string }>('connection.deleted').map(({ connectionId }) => connectionId),
  })

  for (const userRef of new Set(history.flows.map((flow) => flow.userRef))) {
    const flows = history.flows.filter((flow) => flow.userRef === userRef)
    const count = told<{ userRef: string }>('connect.started').filter((payload) => payload.userRef === userRef).length
    const least = flows.filter(({ begunAt }) => begunAt !== undefined).length
    if (count < least || count > flows.length)
      wrong.push(`connect.started of ${userRef} came ${count} times; ${least} to ${flows.length} flows began`)
  }

  const reauth = told<{ connectionId: string }>('reauth.needed').map(({ connectionId }) => connectionId)
  if (new Set(reauth).size < reauth.length) wrong.push('reauth.needed came twice for a connection')
  for (const { _id, status } of live)
    if (status === 'needs_reauth' && !reauth.includes(_id)) wrong.push(`no reauth.needed for ${_id}`)

  type Import = { connectionId: string; inserted: number; updated: number; unchanged: number; total: number }
  const imports = told<Import>('data.imported')
  for (const { inserted, updated, unchanged, total } of imports)
    if (total !== inserted + updated + unchanged || inserted + updated === 0) wrong.push('the sums of data.imported')
  for (const { _id, archiveId, userRef } of live) {
    const lineage = new Set([_id])
    for (const id of lineage) for (const old of all.find((each) => each._id === id)?.replaces ?? []) lineage.add(old)
    // An archive that was begun anew after a deletion has nothing of before.
    if (all.some(({ _id: id, purge }) => lineage.has(id) && purge)) continue
    const inserted = imports
      .filter(({ connectionId }) => lineage.has(connectionId))
      .reduce((sum, each) => sum + each.inserted, 0)
    const stored = await database.collection('conversations').countDocuments({ archiveId })
    if (inserted !== stored)
      wrong.push(`${_id} of ${userRef} has ${stored} conversations; ${inserted} were told as inserted`)
  }
}

function same(wrong: string[], event: string, { happened, told }: { happened: string[]; told: string[] }): void {
  for (const id of happened) if (!told.includes(id)) wrong.push(`no ${event} of ${id}`)
  for (const id of new Set(told)) {
    if (!happened.includes(id)) wrong.push(`a ${event} of ${id}, which did not happen`)
    if (told.filter((each) => each === id).length > 1) wrong.push(`${event} of ${id} more than once`)
  }
}
