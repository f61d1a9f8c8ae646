import * as assert from 'uvu/assert'
import { Commands } from '../../../../schemas/command/command.ts'
import { Connections } from '../../../../schemas/connection/connection.ts'
import { trusted } from '../../../../schemas/database.ts'
import { Deliveries } from '../../../../schemas/delivery/delivery.ts'
import type { Connection } from '../../../../sdk/src/index.ts'
import type { EventName, EventPayloads } from '../../../../wire/events.ts'
import { until } from '../../../support/until.ts'
import type { Counts } from './conversations.ts'
import { at, type Run, sum } from './history.ts'
import type { Model, ModelConnection } from './model.ts'

interface Sent {
  appId: string
  event: EventName
  payload: EventPayloads[EventName]
}

type Named = <E extends EventName>(event: E) => EventPayloads[E][]
type Imported = EventPayloads['data.imported']

const sorted = (list: string[]): string[] => [...list].sort()

/** Compares what was sent with the model and with what the API answered: the connections by id, and their counts. */
export async function compareEvents(
  run: Run,
  { counts, listed }: { counts: Map<string, Counts>; listed: Map<string, Connection> },
): Promise<void> {
  const events = await sentEvents(run)
  const named: Named = (event) => events.filter((sent) => sent.event === event).map(({ payload }) => payload as never)
  compareAddressees(run, events)
  compareConnects(run, named, listed)
  compareDeletions(run, named)
  compareImports(run, named('data.imported'), counts)
}

/** What was sent, once nothing is left to send. */
async function sentEvents({ apps }: Run): Promise<Sent[]> {
  const ours = { appId: trusted({ $in: apps.map(({ appId }) => appId) }) }
  const full = { ...ours, outboxAt: trusted({ $exists: true }) }
  await until('empty outboxes', async () => {
    return (await Connections.countDocuments(full)) + (await Commands.countDocuments(full)) === 0
  })
  const deliveries = await Deliveries.find(ours).select({ appId: 1, body: 1 }).lean<{ appId: string; body: string }[]>()
  return deliveries.map(({ appId, body }) => ({ ...(JSON.parse(body) as Omit<Sent, 'appId'>), appId }))
}

/** Each event goes to the app of its connections and names their user. */
function compareAddressees({ model, apps, userRefs }: Run, events: Sent[]): void {
  for (const { appId, event, payload } of events) {
    const ids =
      'connectionIds' in payload ? payload.connectionIds : 'connectionId' in payload ? [payload.connectionId] : []
    assert.ok(ids.length > 0, `${event} names a connection`)
    for (const id of ids) {
      const connection = model.connections.find((each) => each.id === id)
      if (!connection) throw new Error(`${event} of a connection that is none`)
      const { app, user } = connection
      assert.equal([appId, payload.userRef], [at(apps, app).appId, at(userRefs, user)], `whom ${event} tells of whom`)
    }
  }
}

function compareConnects({ model }: Run, named: Named, listed: Map<string, Connection>): void {
  const created = named('connection.created')
  assert.is(created.length, model.connections.length, 'connection.created once each')
  for (const { id, replaces, reauths } of model.connections) {
    const payload = created.find(({ connectionId }) => connectionId === id)
    assert.equal(sorted(payload?.replaces ?? []), sorted(replaces), 'replaces as told')
    const told = named('reauth.needed').filter(({ connectionId }) => connectionId === id)
    assert.is(told.length, reauths, `reauth.needed of ${id}`)
    for (const { lastSuccessfulPull } of told)
      assert.is(lastSuccessfulPull, listed.get(id)?.lastSyncAt, 'the last successful pull is the last sync')
  }
}

function compareDeletions({ model }: Run, named: Named): void {
  const deletions = [
    ...named('connection.deleted').map((payload) => ({
      ...payload,
      event: 'connection.deleted',
      ids: [payload.connectionId],
    })),
    ...named('data.deleted').map((payload) => ({ ...payload, event: 'data.deleted', ids: payload.connectionIds })),
  ]
  assert.is(deletions.length, model.purges.length, 'deletions once each')
  for (const { event, connections, answer } of model.purges) {
    const ids = sorted(connections.map(({ id }) => id))
    const told = deletions.find((each) => sorted(each.ids).join() === ids.join())
    assert.is(told?.event, event, `${event} of ${ids}`)
    const { inserted } = importsOf(model, named('data.imported'), connections)
    assert.is(told?.conversationsDeleted, inserted, 'deleted is what was inserted')
    if (!answer) continue
    const { conversationsDeleted, deletedAt } = answer
    assert.equal([told?.conversationsDeleted, told?.deletedAt], [conversationsDeleted, deletedAt], 'as answered')
  }
}

/**
 * Whatever broke on the way, every conversation is told of once: as many are inserted as are there or were deleted, and as many updated
 * as changed, at the most, and as were seen to have changed, at the least. What an ingestion answers it tells, too.
 */
function compareImports(
  { model, accounts, ingested, seen }: Run,
  imported: Imported[],
  counts: Map<string, Counts>,
): void {
  const rest = [...imported]
  for (const { connectionId, inserted, updated, unchanged, total } of ingested) {
    assert.is(inserted + updated + unchanged, total, 'the answer of an ingestion adds up')
    if (inserted + updated === 0) continue
    const answered = [connectionId, inserted, updated, unchanged].join()
    const index = rest.findIndex(
      (each) => answered === [each.connectionId, each.inserted, each.updated, each.unchanged].join(),
    )
    assert.ok(index >= 0, `an ingestion tells what it answers: ${answered}`)
    rest.splice(index, 1)
  }
  for (const connection of model.connections) {
    const { id, archive, account, status } = connection
    const { versions, changes } = at(accounts, account)
    for (const { inserted, updated, unchanged, total } of imported.filter(({ connectionId }) => connectionId === id)) {
      assert.is(inserted + updated + unchanged, total, 'counts add up')
      assert.ok(inserted + updated > 0, 'told only when something is new')
      assert.ok(total <= versions.size, 'each conversation is looked at once')
    }
    const { inserted, updated } = importsOf(model, imported, [connection])
    if (status !== 'revoked') assert.is(inserted, counts.get(id)?.all, 'inserted is what is there')
    assert.ok(updated <= changes, `${updated} updates of ${changes} changes`)
    assert.ok(
      updated >= (seen.updates.get(archive) ?? 0),
      `${updated} updates of ${seen.updates.get(archive)} that were seen`,
    )
  }
}

/** What was imported into the archives of these connections, through whichever connection of the account. */
function importsOf(model: Model, imported: Imported[], connections: ModelConnection[]) {
  const archives = new Set(connections.map(({ archive }) => archive))
  const ids = new Set(model.connections.filter(({ archive }) => archives.has(archive)).map(({ id }) => id))
  const ours = imported.filter(({ connectionId }) => ids.has(connectionId))
  return { inserted: sum(ours.map(({ inserted }) => inserted)), updated: sum(ours.map(({ updated }) => updated)) }
}
