import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isKeyed, openArchiveKey } from '../../actors/connection/keys.ts'
import { unseal } from '../../core/envelope.ts'
import { Attachments } from '../../schemas/archive/attachment.ts'
import { type Conversation, Conversations } from '../../schemas/archive/conversation.ts'
import { ConversationBodies } from '../../schemas/archive/conversation-body.ts'
import { ConversationParts } from '../../schemas/archive/conversation-part.ts'
import { Commands } from '../../schemas/command/command.ts'
import { Accounts } from '../../schemas/connection/account.ts'
import { BrowserProfiles } from '../../schemas/connection/browser-profile.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { ATTACHMENT_PURPOSE } from '../../schemas/secrets.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { readAttachmentBytes } from '../support/stored-file.ts'
import { until } from '../support/until.ts'
import { payloadOf } from './sync/support.ts'

const life = suite('life of a connection')
let world: ActorWorld
life.before(async () => {
  world = await startActorWorld()
})
life.after(() => world.stop())

const connectionOf = async (id: string) => {
  const connection = await Connections.findById(id).lean<Connection>()
  if (!connection) throw new Error('no such connection')
  return connection
}
const connected = async (options: Parameters<ActorWorld['connect']>[0]): Promise<string> => {
  const command = await world.connect(options)
  if (!command.result) throw new Error(`not connected: ${command.failure?.code}`)
  return command.result.connectionId
}
const synced = (id: string) =>
  until('a sync that read everything', async () => {
    const connection = await connectionOf(id)
    return connection.sync.outcome?.startsWith('complete') && !connection.claimedBy ? connection : null
  })
const archiveOf = async (id: string) => (await synced(id)).archiveId ?? ''
const eventsOf = (connectionId: string, event: string) =>
  world.receiver.named(event).filter(({ payload }) => payload['connectionId'] === connectionId)
const event = (connectionId: string, name: string) =>
  until(`${name} of ${connectionId}`, () => eventsOf(connectionId, name)[0])

life('a connect creates the connection and its first sync imports everything', async () => {
  const id = await connected({ userRef: 'ada', email: 'ada@example.test' })
  const created = await event(id, 'connection.created')
  const connection = await synced(id)
  assert.equal(created.payload, {
    connectionId: id,
    userRef: 'ada',
    userId: connection.userId,
    connectorId: 'sandbox-assistant',
    provider: 'sandbox-assistant',
    replaces: [],
  })
  const imported = await event(id, 'data.imported')
  const { importedAt, ...counts } = imported.payload
  assert.equal(counts, { connectionId: id, userRef: 'ada', inserted: 12, updated: 0, unchanged: 0, total: 12 })
  assert.ok(!Number.isNaN(Date.parse(String(importedAt))))
  assert.is(await Conversations.countDocuments({ archiveId: connection.archiveId ?? '' }), 12)
  assert.is(connection.status, 'active')
})

life('the command keeps no key and no credential once it is done', async () => {
  const command = await world.connect({ userRef: 'keys', email: 'keys@example.test' })
  const stored = await Commands.findById(command._id).lean()
  const kept = ['capturedAt', 'connectionId', 'generation', 'provider', 'userId', 'userRef']
  assert.equal(Object.keys(stored?.args ?? {}).sort(), kept)
})

life('files of messages are stored encrypted with the archive key', async () => {
  const id = await connected({ userRef: 'branches', email: 'branches@example.test' })
  const connection = await synced(id)
  if (!isKeyed(connection)) throw new Error('no key')
  const archiveKey = openArchiveKey({ connection, keyring: world.keyring })
  const archiveId = connection.archiveId ?? ''
  const attachments = await Attachments.find({ archiveId }).lean()
  const stored = attachments.filter(({ state }) => state === 'stored')
  assert.ok(stored.length > 0)
  for (const { _id, sizeBytes } of stored) {
    const bytes = await readAttachmentBytes({ id: _id })
    assert.is(unseal(archiveKey, { owner: archiveId, purpose: ATTACHMENT_PURPOSE }, bytes).length, sizeBytes)
  }
  assert.is(attachments.filter(({ state }) => state === 'waiting').length, 0)
})

life('a changed conversation is updated in place, an unchanged one is not fetched again', async () => {
  const email = 'changes@example.test'
  const id = await connected({ userRef: 'changes', email })
  const archiveId = await archiveOf(id)
  const before = await Conversations.find({ archiveId }).sort({ updateTime: -1 }).lean<Conversation[]>()
  const [changed] = before
  await world.site.control({
    action: 'change',
    account: email,
    id: changed?.externalId,
    messages: [{ role: 'user', text: 'One more thing' }],
  })
  await Connections.updateOne({ _id: id }, { $set: { claimableAt: new Date(0) } })
  const imported = await until('the second import', () => eventsOf(id, 'data.imported')[1])
  assert.is(imported.payload['updated'], 1)
  assert.is(imported.payload['inserted'], 0)
  const after = await Conversations.findById(changed?._id ?? '').lean<Conversation>()
  assert.ok(after)
  assert.match(JSON.stringify(await payloadOf(after)), /One more thing/)
  const { calls } = await world.site.control<{ calls: Record<string, { conversation: number }> }>({
    action: 'log',
    account: email,
  })
  assert.is(calls[email]?.conversation, before.length + 1)
})

life('a session that the provider ended is told once, and what was imported stays', async () => {
  const email = 'ended@example.test'
  const id = await connected({ userRef: 'ended', email })
  const { archiveId = '', lastSyncAt } = await synced(id)
  await world.site.control({ action: 'end-sessions', account: email })
  await Connections.updateOne({ _id: id }, { $set: { claimableAt: new Date(0) } })
  const told = await event(id, 'reauth.needed')
  assert.is(told.payload['lastSuccessfulPull'], lastSyncAt?.toISOString())
  assert.is(told.payload['provider'], 'sandbox-assistant')
  assert.type(told.payload['reason'], 'string')
  const connection = await connectionOf(id)
  assert.is(connection.status, 'needs_reauth')
  assert.is(connection.claimableAt, undefined)
  assert.is(await Conversations.countDocuments({ archiveId }), 2)
})

life('a reconnect folds the old connection into the new one, whatever its state', async () => {
  const email = 'again@example.test'
  const first = await connected({ userRef: 'again', email })
  const archiveId = await archiveOf(first)
  await world.site.control({ action: 'end-sessions', account: email })
  await Connections.updateOne({ _id: first }, { $set: { claimableAt: new Date(0) } })
  await event(first, 'reauth.needed')
  const second = await connected({ userRef: 'again', email })
  assert.equal((await event(second, 'connection.created')).payload['replaces'], [first])
  const third = await connected({ userRef: 'again', email })
  assert.equal((await event(third, 'connection.created')).payload['replaces'], [second])
  const last = await synced(third)
  assert.is(last.archiveId, archiveId)
  assert.is(await Conversations.countDocuments({ archiveId }), 2)
  for (const old of [await connectionOf(first), await connectionOf(second)]) {
    assert.is(old.status, 'revoked')
    assert.is(old.accountId, last.accountId)
    assert.equal(
      [old.key, old.credential, old.archiveId, old.claimableAt],
      [undefined, undefined, undefined, undefined],
    )
    assert.is(await BrowserProfiles.countDocuments({ _id: old._id }), 0)
  }
  assert.is(await BrowserProfiles.countDocuments({ _id: third }), 1)
  assert.is(eventsOf(third, 'data.imported').length, 0, 'nothing new was found')
})

life(
  'an account belongs to one user of an app; of two who race exactly one wins; another app is another world',
  async () => {
    await world.makeApp('app-two')
    const email = 'shared@example.test'
    const race = await Promise.all([
      world.connect({ userRef: 'one', email }),
      world.connect({ userRef: 'two', email }),
      world.connect({ userRef: 'three', email }),
    ])
    const won = race.filter(({ state }) => state === 'done')
    assert.is(won.length, 1)
    for (const { failure } of race.filter(({ state }) => state === 'failed')) assert.is(failure?.code, 'account_held')
    const elsewhere = await world.connect({ userRef: 'four', email, appId: 'app-two' })
    assert.is(elsewhere.state, 'done')
    const accounts = await Connections.distinct('accountId', {
      userRef: trusted({ $in: ['one', 'two', 'three', 'four'] }),
    })
    assert.is(accounts.length, 2)
  },
)

life('two reconnects of one account that race leave one active connection', async () => {
  const email = 'twice@example.test'
  await connected({ userRef: 'twice', email })
  await Promise.all([1, 2, 3].map(() => connected({ userRef: 'twice', email })))
  const statuses = (await Connections.find({ userRef: 'twice' }).lean<Connection[]>()).map(({ status }) => status)
  assert.equal(statuses.sort(), ['active', 'revoked', 'revoked', 'revoked'])
})

life('a purge by connection deletes everything of it, tells once and answers zeros when repeated', async () => {
  const id = await connected({ userRef: 'purged', email: 'branches@example.test', appId: 'app-two' })
  const { archiveId = '', accountId } = await synced(id)
  const conversations = await Conversations.countDocuments({ archiveId })
  const done = await world.purge({ userRef: 'purged', connectionId: id })
  assert.equal([done?.connectionsRevoked, done?.conversationsDeleted], [1, conversations])
  const told = await event(id, 'connection.deleted')
  assert.is(told.payload['conversationsDeleted'], conversations)
  const connection = await connectionOf(id)
  assert.is(connection.status, 'revoked')
  assert.equal(
    [connection.key, connection.credential, connection.archiveKey, connection.archiveId],
    [undefined, undefined, undefined, undefined],
  )
  assert.is(await Conversations.countDocuments({ archiveId }), 0)
  assert.is(await ConversationParts.countDocuments({ archiveId }), 0)
  assert.is(await ConversationBodies.countDocuments({ archiveId }), 0)
  assert.is(await Attachments.countDocuments({ archiveId }), 0)
  assert.is(await BrowserProfiles.countDocuments({ _id: id }), 0)
  assert.is((await Accounts.findById(accountId).lean())?.archiveId, undefined)
  const again = await world.purge({ userRef: 'purged', connectionId: id })
  assert.equal([again?.connectionsRevoked, again?.conversationsDeleted], [0, 0])
  assert.is(eventsOf(id, 'connection.deleted').length, 1)
})

life('a purge by user deletes all of its connections, and the account is free for another user', async () => {
  const first = await connected({ userRef: 'leaver', email: 'ada@example.test', appId: 'app-two' }).catch(() => '')
  assert.ok(first)
  await synced(first)
  await world.purge({ userRef: 'leaver', connectionId: first })
  const mine = await connected({ userRef: 'user-of-one', email: 'purge-a@example.test' })
  const other = await connected({ userRef: 'user-of-one', email: 'purge-b@example.test' })
  await Promise.all([synced(mine), synced(other)])
  const done = await world.purge({ userRef: 'user-of-one' })
  assert.equal([done?.connectionsRevoked, done?.conversationsDeleted], [2, 4])
  const told = await until('data.deleted', () =>
    world.receiver.named('data.deleted').find(({ payload }) => payload['userRef'] === 'user-of-one'),
  )
  assert.equal((told.payload['connectionIds'] as string[]).sort(), [mine, other].sort())
  assert.equal(told.payload['providers'], ['sandbox-assistant'])
  const taken = await world.connect({ userRef: 'successor', email: 'purge-a@example.test' })
  assert.is(taken.state, 'done')
})

life('a purge in the middle of a sync leaves nothing behind', async () => {
  const id = await connected({ userRef: 'midway', email: 'bulk-400@example.test' })
  const { archiveId = '' } = await until('some conversations', async () => {
    const connection = await connectionOf(id)
    return (await Conversations.countDocuments({ archiveId: connection.archiveId ?? '' })) > 0 ? connection : null
  })
  const done = await world.purge({ userRef: 'midway', connectionId: id })
  assert.is(done?.connectionsRevoked, 1)
  assert.is(await Conversations.countDocuments({ archiveId }), 0)
  await until('the sync to end', () => !world.actors().some((actor) => actor.path.endsWith(`/${id}`)))
  assert.is(await Conversations.countDocuments({ archiveId }), 0)
})

life.run()
