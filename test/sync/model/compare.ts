import * as assert from 'uvu/assert'
import { Commands } from '../../../schemas/command.ts'
import { type Connection, Connections } from '../../../schemas/connection.ts'
import { type Conversation, Conversations } from '../../../schemas/conversation.ts'
import { trusted } from '../../../schemas/database.ts'
import { Deliveries } from '../../../schemas/delivery.ts'
import { until } from '../../support/until.ts'
import { providerHas } from '../support.ts'
import type { ModelConnection } from './model.ts'
import type { Run } from './run.ts'

interface Sent {
  event: string
  payload: Record<string, unknown>
  deliveryId: string
}

/** Compares everything that an app could see with the model. */
export async function compare(run: Run): Promise<void> {
  const stored = await Connections.find({ appId: trusted({ $in: run.apps }) }).lean<Connection[]>()
  compareConnections(run, stored)
  const counts = await compareConversations(run, stored)
  await compareEvents(run, await sentEvents(run), counts)
}

const sorted = (list: string[]): string[] => [...list].sort()

function compareConnections({ model, accounts }: Run, stored: Connection[]): void {
  assert.is(stored.length, model.connections.length, 'as many connections')
  const accountIds = new Map<string, string>()
  for (const expected of model.connections) {
    const found = stored.find(({ _id }) => _id === expected.id)
    assert.is(found?.status, expected.status, `status of ${expected.id}`)
    assert.equal(sorted(found?.replaces ?? []), sorted(expected.replaces), `what ${expected.id} replaces`)
    assert.is(found?.quarantinedAt, undefined, 'no quarantine')
    const key = `${expected.app} ${accounts[expected.account]}`
    const known = accountIds.get(key) ?? found?.accountId ?? ''
    accountIds.set(key, known)
    assert.is(found?.accountId, known, 'one accountId for one account of one app')
    if (expected.status !== 'revoked') continue
    assert.equal([found?.key, found?.credential, found?.archiveId], [undefined, undefined, undefined], 'revoked')
  }
  assert.is(new Set(accountIds.values()).size, accountIds.size, 'accountIds differ between accounts and apps')
}

/** Answers how many conversations each archive of the model holds. */
async function compareConversations(run: Run, stored: Connection[]): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  for (const expected of run.model.connections.filter(({ status }) => status !== 'revoked')) {
    const { archiveId = '' } = stored.find(({ _id }) => _id === expected.id) ?? {}
    const conversations = await Conversations.find({ archiveId }).lean<Conversation[]>()
    counts.set(expected.archive, conversations.length)
    const known = run.known[expected.account]
    for (const { externalId } of conversations) assert.ok(known?.has(externalId), `${externalId} is of the account`)
    if (expected.status !== 'active') continue
    const present = await providerHas(run.world, run.accounts[expected.account] ?? '')
    const byId = new Map(conversations.map((conversation) => [conversation.externalId, conversation]))
    for (const [externalId, wanted] of present) {
      assert.equal(JSON.parse(byId.get(externalId)?.payload ?? 'null'), wanted, `${externalId} as the provider has it`)
    }
  }
  return counts
}

/** What was sent, once nothing is left to send. */
async function sentEvents({ apps }: Run): Promise<Sent[]> {
  const ours = trusted({ $in: apps })
  await until('empty outboxes', async () => {
    const full = { appId: ours, outboxAt: trusted({ $exists: true }) }
    return (await Connections.countDocuments(full)) + (await Commands.countDocuments(full)) === 0
  })
  const deliveries = await Deliveries.find({ appId: ours }).select({ body: 1 }).lean<{ body: string }[]>()
  return deliveries.map(({ body }) => JSON.parse(body) as Sent)
}

const number = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)

async function compareEvents({ model, ingested }: Run, events: Sent[], counts: Map<number, number>): Promise<void> {
  const named = (event: string) => events.filter((sent) => sent.event === event).map(({ payload }) => payload)
  const created = named('connection.created')
  assert.is(created.length, model.connections.length, 'connection.created once each')
  for (const { id, replaces, reauths } of model.connections) {
    const payload = created.find(({ connectionId }) => connectionId === id)
    assert.equal(sorted((payload?.['replaces'] as string[]) ?? []), sorted(replaces), 'replaces as told')
    const told = named('reauth.needed').filter(({ connectionId }) => connectionId === id)
    assert.is(told.length, reauths, `reauth.needed of ${id}`)
  }
  const deletions = [...named('connection.deleted'), ...named('data.deleted')].map(
    ({ connectionId, connectionIds, conversationsDeleted }) => ({
      ids: sorted((connectionIds as string[]) ?? [connectionId as string]),
      conversationsDeleted,
    }),
  )
  const expected = model.purges.map((purge) => ({
    ids: sorted(purge.connectionIds),
    conversationsDeleted: purge.conversationsDeleted,
  }))
  const inOrder = (list: { ids: string[] }[]) => [...list].sort((a, b) => (a.ids.join() < b.ids.join() ? -1 : 1))
  assert.equal(inOrder(deletions), inOrder(expected), 'deletions as answered')
  compareImports(named('data.imported'), model.connections, counts, model.purges)
  for (const { connectionId, counts: answered } of ingested) {
    const { inserted, updated, unchanged, total } = answered
    assert.is(inserted + updated + unchanged, total, `the answer of an ingestion of ${connectionId} adds up`)
  }
}

function compareImports(
  imported: Record<string, unknown>[],
  connections: ModelConnection[],
  counts: Map<number, number>,
  purges: { connectionIds: string[]; conversationsDeleted: number }[],
): void {
  const inserted = new Map<number, number>()
  for (const payload of imported) {
    const [more, updated, unchanged, total] = ['inserted', 'updated', 'unchanged', 'total'].map((name) =>
      number(payload[name]),
    ) as [number, number, number, number]
    assert.is(more + updated + unchanged, total, 'counts add up')
    assert.ok(more + updated > 0, 'told only when something is new')
    const connection = connections.find(({ id }) => id === payload['connectionId'])
    if (!connection) throw new Error('data.imported of a connection that is none')
    inserted.set(connection.archive, (inserted.get(connection.archive) ?? 0) + more)
  }
  const sum = (values: Iterable<number>) => [...values].reduce((all, value) => all + value, 0)
  for (const [archive, stored] of counts) assert.is(inserted.get(archive) ?? 0, stored, 'inserted is what is stored')
  const deleted = sum(purges.map(({ conversationsDeleted }) => conversationsDeleted))
  assert.is(sum(inserted.values()), sum(counts.values()) + deleted, 'all that was inserted is stored or was deleted')
}
