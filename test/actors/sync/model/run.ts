import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { deriveId } from '../../../../core/ids.ts'
import { until } from '../../../support/until.ts'
import { connectionOf } from '../support.ts'
import { addConversation, changeConversation, deleteConversation, exportOf, openAccount } from './account.ts'
import { compare } from './compare.ts'
import { compareConversations, seeConversations } from './conversations.ts'
import { at, type Run } from './history.ts'
import { seeListing } from './listings.ts'
import { createModel, type ModelConnection, type ModelUser } from './model.ts'
import { askToIngest, askToPurge, REVOKED } from './requests.ts'
import { createSeen } from './seen.ts'
import { LOOK_EVERY_MS, makeIdleDue, rest, settle } from './settle.ts'
import { ACCOUNTS, type Step, USERS } from './steps.ts'
import type { ModelWorld } from './world.ts'

/** One page, and a little more than one. */
const sizes = [3, 30]

/** Carries out one history against the real service and compares it with the model. Throws where they differ. */
export async function runHistory({ world, steps }: { world: ModelWorld; steps: Step[] }): Promise<void> {
  const name = randomUUID().slice(0, 13)
  const emails = Array.from({ length: ACCOUNTS }, (_, index) => `bulk-${sizes[index]}+${name}@example.test`)
  const secondApp = steps.some((step) => 'app' in step && step.app === 1)
  const appIds = [`app-a-${name}`, ...(secondApp ? [`app-b-${name}`] : [])]
  const run: Run = {
    world,
    model: createModel(),
    apps: await Promise.all(appIds.map(world.makeApp)),
    userRefs: Array.from({ length: USERS }, (_, index) => `user ${index} ${name}`),
    accounts: await Promise.all(emails.map((email) => openAccount(world.site, email))),
    ingested: [],
    seen: createSeen(),
  }
  for (const step of steps) await carryOut(run, step)
  const since = world.runtime.clock.now()
  await settle(run, run.model.connections)
  await compare(run, { since })
  await rest(run)
}

async function carryOut(run: Run, step: Step): Promise<void> {
  const { site, faults } = run.world
  switch (step.kind) {
    case 'login':
      return login(run, step)
    case 'add':
      return addConversation(site, at(run.accounts, step.account), step)
    case 'change':
    case 'delete': {
      const account = at(run.accounts, step.account)
      if (account.present.size === 0) return
      const id = at([...account.present], step.which)
      return step.kind === 'change'
        ? changeConversation(site, account, { id, change: step.change })
        : deleteConversation(site, account, id)
    }
    case 'limit': {
      const { after, form } = step
      await site.control({ action: 'limit', account: at(run.accounts, step.account).email, after, form, blockMs: 50 })
      return
    }
    case 'expire':
      return expire(run, step.account)
    case 'purge-user':
      return purgeUser(run, step)
    case 'crash':
      faults.arm(step)
      return
    default:
      return withConnection(run, step)
  }
}

/** Steps that name a connection by the order they were made in; without any nothing happens. */
async function withConnection(run: Run, step: Extract<Step, { connection: number }>): Promise<void> {
  if (run.model.connections.length === 0) return
  const connection = at(run.model.connections, step.connection)
  switch (step.kind) {
    case 'sync':
      await makeIdleDue(connection.id)
      return
    case 'purge-connection':
      return purge(run, { user: connection, connections: [connection], target: { connectionId: connection.id } })
    case 'ingest':
      return ingest(run, connection)
    case 'compare':
      await settle(run, [connection])
      await compareConversations(run, connection)
      return
    case 'break':
      return breakOff(run, connection, step)
  }
}

async function login(run: Run, step: Step & { kind: 'login' }): Promise<void> {
  const { world, model, accounts, apps, userRefs } = run
  const wanted = model.login(step)
  const previous = model.holder(step)
  if (previous) await seeConversations(run, previous)
  const command = await world.connect({
    userRef: at(userRefs, step.user),
    email: at(accounts, step.account).email,
    appId: at(apps, step.app).appId,
  })
  if (wanted === 'held') assert.is(command.failure?.code, 'account_held')
  else if (!command.result) throw new Error(`not connected: ${command.failure?.code}`)
  else {
    const made = model.connect({ ...step, id: command.result.connectionId })
    if (previous) await seeConversations(run, made)
  }
  await seeListing(run, step)
}

async function expire(run: Run, account: number): Promise<void> {
  const { world, model, accounts } = run
  const { email } = at(accounts, account)
  await world.site.control({ action: 'limit', account: email, after: null })
  await world.site.control({ action: 'end-sessions', account: email })
  for (const connection of model.expire(account)) {
    await until(
      'reauth',
      async () => {
        await makeIdleDue(connection.id)
        return (await connectionOf(connection.id)).status === 'needs_reauth'
      },
      { everyMs: LOOK_EVERY_MS },
    )
    await seeListing(run, connection)
    await seeConversations(run, connection)
  }
}

async function purgeUser(run: Run, user: ModelUser): Promise<void> {
  const target = { userRef: at(run.userRefs, user.user) }
  const connections = run.model.listed(user)
  if (connections) return purge(run, { user, connections, target })
  const { status, body } = await askToPurge(at(run.apps, user.app), target)
  assert.equal([status, body], [404, { error: 'User not found' }])
}

async function purge(
  run: Run,
  { user, connections, target }: { user: ModelUser; connections: ModelConnection[]; target: object },
): Promise<void> {
  const { model, apps } = run
  const { status, body, late } = await askToPurge(at(apps, user.app), target)
  assert.is(status, 200)
  const purged = model.purge(connections)
  if (!late) assert.is(body.connectionsRevoked, purged.length)
  if (purged.length > 0) {
    const event = 'connectionId' in target ? 'connection.deleted' : 'data.deleted'
    model.purges.push({ event, connections: purged, ...(!late && { answer: body }) })
  } else assert.is(body.conversationsDeleted, 0)
  await seeListing(run, user)
  await Promise.all(purged.map((connection) => seeConversations(run, connection)))
}

async function ingest(run: Run, { id, app, account, status }: ModelConnection): Promise<void> {
  const { world, accounts, apps } = run
  const conversations = (await exportOf(world.site, at(accounts, account))).slice(0, 12)
  const answer = await askToIngest(at(apps, app), id, conversations)
  if (status === 'revoked') return assert.equal([answer.status, answer.body], REVOKED)
  assert.is(answer.status, 200)
  assert.is(answer.body.total, conversations.length, 'an ingestion looks at each conversation once')
  run.ingested.push(answer.body)
}

/**
 * What stores a conversation that is new or has changed dies of it, before or after the write. It is taken up again; a sync finds the
 * conversation changed once more by then.
 */
async function breakOff(run: Run, connection: ModelConnection, step: Step & { kind: 'break' }): Promise<void> {
  if (connection.status !== 'active') return
  const { site, faults } = run.world
  await settle(run, [connection])
  await compareConversations(run, connection)
  const account = at(run.accounts, connection.account)
  const present = [...account.present]
  const known = step.which === null || present.length === 0 ? null : at(present, step.which)
  const id = known ?? randomUUID()
  const { archiveId = '' } = await connectionOf(connection.id)
  const stored = deriveId('conversation', archiveId, id)
  const fault = faults.arm({ skip: 0, answerLost: step.answerLost, strikes: storing(stored) })
  if (known) await changeConversation(site, account, { id, change: 'messages' })
  else await addConversation(site, account, { id, old: false })
  if (step.through === 'ingest') return ingest(run, connection)
  await makeIdleDue(connection.id)
  await until('the fault', fault.struck)
  await changeConversation(site, account, { id, change: step.change })
}

const storing = (conversationId: string) => (collection: string, args: unknown[]) =>
  collection === 'conversations' && JSON.stringify(args[0]).includes(conversationId)
