import type { Db } from 'mongodb'
import { DAY, HOUR } from '../../../core/clock.ts'
import { deleteStrayUploads } from '../../../schemas/archive/export-upload.ts'
import type { Command } from '../../../schemas/command/command.ts'
import type { Connection } from '../../../schemas/connection/connection.ts'
import type { Delivery } from '../../../schemas/delivery/delivery.ts'
import { repairLanes } from '../../../schemas/delivery/delivery-lane.ts'
import type { FarmWorld } from '../../browser-farm/world.ts'
import type { Receiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import type { Asker } from './asker.ts'
import { passThroughPortal } from './portal-pass.ts'
import type { Visits } from './visits.ts'

interface Pass {
  appId: string
  world: FarmWorld
  asker: Asker
  visits: Visits
  receiver: Receiver
  /** By a connection of the test's own: what it looks at is no query of the service. */
  database: Db
  /** Says from here on with which status the receiver answers. */
  answerWith(status: number): void
  during(step: string): void
}

/** Far enough ahead to be announced. */
const DEPRECATED_MS = 100 * DAY
/** Of a conversation that lies in parts. */
const LARGE = 'x'.repeat(1_200_000)
const ADA = 'ada@example.test'

/** Has the service do everything that it does: the hosted pages, every endpoint, and what processes do by themselves. */
export async function passThrough(pass: Pass): Promise<void> {
  const { asker, appId, receiver } = pass
  await asker.ask('ops.changeApp', { params: { appId }, body: { webhookUrl: receiver.url } })
  const ada = await connect(pass)
  await read(pass, ada)
  const again = await loseSession(pass, ada)
  await failDeliveries(pass)
  await operate(pass, again)
  await erase(pass, again)
  await passThroughPortal({ ...pass, userRef: 'dora' })
}

const connectionsOf = ({ database }: Pass) => database.collection<Connection>('connections')

const synced = (pass: Pass, userRef: string, more: object = {}) =>
  until(`a sync of ${userRef}`, () =>
    connectionsOf(pass).findOne({ userRef, lastSyncAt: { $exists: true }, claimedBy: { $exists: false }, ...more }),
  )

/** One user of each way to connect. Returns the connection of the first. */
async function connect(pass: Pass): Promise<string> {
  const { visits, receiver, during } = pass
  during('a sign-in on the page')
  await visits.signIn('ada', ADA)
  await visits.signInNatively('bea', 'branches@example.test')
  await visits.signInNatively('carl', 'carl@example.test')
  for (const userRef of ['bea', 'carl']) await synced(pass, userRef)
  await until('events', () => receiver.named('data.imported').length >= 2)
  return (await synced(pass, 'ada'))._id
}

async function read({ asker: { ask }, world }: Pass, connectionId: string): Promise<void> {
  await ask('api.listConnections', { query: { userRef: 'ada' } })
  await ask('api.listConversations', { query: { userRef: 'ada' } })
  const page = { connectionId, limit: '2' }
  const { nextCursor } = await ask('api.listConversations', { query: page })
  await ask('api.listConversations', { query: { ...page, offset: '2' } })
  await ask('api.listConversations', { query: { ...page, cursor: String(nextCursor) } })
  const { conversations } = await world.site.control<{ conversations: unknown[] }>({ action: 'export', account: ADA })
  const { ingestId } = await ask('api.ingestExport', {
    query: { userRef: 'ada' },
    body: JSON.stringify(conversations),
  })
  await ask('api.getIngestion', { params: { ingestId: String(ingestId) } })
}

/** Returns the connection that follows. */
async function loseSession(pass: Pass, id: string): Promise<string> {
  const { asker, world, visits } = pass
  const { ask } = asker
  await world.site.control({ action: 'add', account: ADA, messages: [{ role: 'user', text: LARGE }] })
  await ask('ops.syncConnection', { params: { id } })
  await world.site.control({ action: 'end-sessions', account: ADA })
  await until('the end of the session', async () => {
    await ask('ops.syncConnection', { params: { id } })
    return connectionsOf(pass).findOne({ _id: id, status: 'needs_reauth' })
  })
  const next = await visits.signInNatively('ada', ADA)
  await synced(pass, 'ada', { _id: next })
  await ask('api.listConversations', { query: { connectionId: next } })
  return next
}

async function failDeliveries({ appId, asker: { ask }, answerWith, during, database }: Pass): Promise<void> {
  answerWith(500)
  const { deliveryId } = await ask('ops.sendTestEvent', { params: { appId } })
  const _id = String(deliveryId)
  during('attempts that fail')
  const delivery = () => database.collection<Delivery>('deliveries').findOne({ _id })
  await until('a second attempt', async () => ((await delivery())?.attempts.length ?? 0) > 1)
  answerWith(204)
  await ask('ops.retryDelivery', { params: { id: _id } })
  const since = new Date(Date.now() - HOUR).toISOString()
  await ask('ops.retryDeliveries', { body: { since } })
  await ask('ops.retryDeliveries', { body: { since, appId } })
}

async function operate({ appId, asker: { ask }, visits }: Pass, connectionId: string): Promise<void> {
  const params = { appId }
  const other = { appId: 'other', appName: 'Other', contactEmail: 'x@example.test', ownerEmail: 'x@example.test' }
  await ask('ops.createApp', { body: other })
  await ask('ops.listApps')
  await ask('ops.createApiKey', { params, body: { name: 'x' } }).then(({ id }) =>
    ask('ops.revokeApiKey', { params: { appId, id: String(id) } }),
  )
  await ask('ops.listApiKeys', { params })
  await ask('ops.inviteMember', { params, body: { email: 'x@example.test', role: 'owner' } })
  const removedAt = new Date(Date.now() + DEPRECATED_MS).toISOString()
  await ask('ops.announceDeprecation', { body: { subject: 'x', message: 'x', removedAt } })
  await ask('ops.retryCommand', { params: { id: connectionId }, refused: true })
  await ask('ops.rotateSecret', { params, body: { secret: 'webhook' } })
  await ask('ops.createOperatorKey', { body: { name: 'x', role: 'support' } }).then(({ id }) =>
    ask('ops.revokeOperatorKey', { params: { id: String(id) } }),
  )
  await ask('ops.listOperatorKeys')
  await ask('ops.getConnection', { params: { id: connectionId } })
  await ask('ops.getOverview')
  await ask('ops.getActors')
  for (const query of [{}, { appId }] as Record<string, string>[]) {
    for (const q of ['', 'active', appId, connectionId, 'ad', 'ada'])
      await ask('ops.listConnections', { query: { ...query, q } })
    for (const state of ['live', 'connected']) await ask('ops.listLeases', { query: { ...query, state } })
    for (const state of ['waiting', 'dropped']) await ask('ops.listDeliveries', { query: { ...query, state } })
    for (const state of ['waiting', 'done']) await ask('ops.listCommands', { query: { ...query, state } })
    await ask('ops.listLeases', { query })
    await ask('ops.listDeliveries', { query })
    await ask('ops.listDeliveries', { query: { ...query, q: connectionId } })
    await ask('ops.listCommands', { query })
    await ask('ops.listAudit', { query })
    await ask('ops.listMails', { query })
  }
  await visits.open('dora', (id) => ask('ops.releaseLease', { params: { id } }))
}

async function erase(pass: Pass, connectionId: string): Promise<void> {
  const { appId, asker, visits, during, database } = pass
  const { ask } = asker
  for (const dryRun of ['true', 'false']) {
    await ask('ops.purge', { query: { dryRun }, body: { appId, userRef: 'bea' } })
    await ask('ops.purge', { query: { dryRun }, body: { appId, connectionId } })
  }
  await ask('api.purge', { body: { appId, connectionId } })
  await ask('api.purge', { body: { appId, userRef: 'ada' } })
  during('the manage page')
  await visits.deleteAll('carl')
  await until('the deletion', () => connectionsOf(pass).findOne({ userRef: 'carl', status: 'revoked' }))
  during('sweeps')
  const commands = database.collection<Command>('commands')
  await commands.updateMany({ kind: 'sweep' }, { $set: { claimableAt: new Date() } })
  await until('a sweep', () => commands.findOne({ kind: 'sweep', state: 'done' }))
  await deleteStrayUploads({ before: new Date() })
  await repairLanes()
}
