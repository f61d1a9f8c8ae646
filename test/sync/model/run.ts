import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { CommandResults } from '../../../schemas/command.ts'
import { Connections } from '../../../schemas/connection.ts'
import { trusted } from '../../../schemas/database.ts'
import type { ActorWorld } from '../../support/actors.ts'
import { until } from '../../support/until.ts'
import type { FaultyWrites } from '../faulty-writes.ts'
import { connectionOf, ingest, makeDue } from '../support.ts'
import { compare } from './compare.ts'
import { createModel, type Model, type ModelConnection } from './model.ts'
import { ACCOUNTS, type Step } from './steps.ts'

export interface Run {
  world: ActorWorld
  faults: FaultyWrites
  model: Model
  apps: string[]
  /** E-mails of the provider's accounts. */
  accounts: string[]
  userRefs: string[]
  /** Every external id that an account ever had. */
  known: Set<string>[]
  ingested: { connectionId: string; counts: CommandResults['ingest'] }[]
}

/** One page, and a little more than one. */
const sizes = [3, 30]

/** Carries out one history against the real actors and compares with the model. Throws where they differ. */
export async function runHistory({
  world,
  faults,
  steps,
}: {
  world: ActorWorld
  faults: FaultyWrites
  steps: Step[]
}): Promise<void> {
  const name = randomUUID().slice(0, 13)
  const run: Run = {
    world,
    faults,
    model: createModel(),
    apps: [`app-a-${name}`, `app-b-${name}`],
    accounts: Array.from({ length: ACCOUNTS }, (_, index) => `bulk-${sizes[index]}+${name}@example.test`),
    userRefs: [`user one ${name}`, `user two ${name}`],
    known: Array.from({ length: ACCOUNTS }, () => new Set<string>()),
    ingested: [],
  }
  const secondApp = steps.some((step) => 'app' in step && step.app === 1)
  for (const appId of secondApp ? run.apps : run.apps.slice(0, 1)) await world.makeApp(appId)
  for (const index of run.accounts.keys()) await remember(run, index)
  for (const step of steps) await carryOut(run, step)
  await settle(run)
  await compare(run)
}

const at = <T>(list: T[], index: number): T => {
  const found = list[index % list.length]
  if (found === undefined) throw new Error('nothing to choose from')
  return found
}

async function remember({ world, accounts, known }: Run, index: number): Promise<string[]> {
  const account = at(accounts, index)
  const { conversations } = await world.site.control<{ conversations: { id: string }[] }>({ action: 'list', account })
  const ids = conversations.map(({ id }) => id)
  for (const id of ids) known[index]?.add(id)
  return ids
}

async function carryOut(run: Run, step: Step): Promise<void> {
  const { world, model, accounts, apps } = run
  switch (step.kind) {
    case 'login':
      return login(run, step)
    case 'add':
      await world.site.control({ action: 'add', account: at(accounts, step.account), title: `Added ${randomUUID()}` })
      await remember(run, step.account)
      return
    case 'change':
    case 'delete': {
      const ids = await remember(run, step.account)
      if (ids.length === 0) return
      const order = { account: at(accounts, step.account), id: at(ids, step.which) }
      const messages = [{ role: 'user', text: `More ${randomUUID()}` }]
      await world.site.control(
        step.kind === 'delete' ? { action: 'delete', ...order } : { action: 'change', ...order, messages },
      )
      return
    }
    case 'sync':
      if (model.connections.length > 0)
        await Connections.updateOne(activeIdle(at(model.connections, step.connection).id), due)
      return
    case 'limit':
      await world.site.control({
        action: 'limit',
        account: at(accounts, step.account),
        after: step.after,
        form: step.form,
        blockMs: 50,
      })
      return
    case 'expire':
      return expire(run, step.account)
    case 'purge-connection': {
      if (model.connections.length === 0) return
      const target = at(model.connections, step.connection)
      return purge(run, [target], { connectionId: target.id })
    }
    case 'purge-user': {
      const { user, app } = step
      if (!model.connections.some((each) => each.app === app)) return
      return purge(
        run,
        model.connections.filter((each) => each.user === user && each.app === app),
        { user, app },
      )
    }
    case 'ingest':
      return ingestExport(run, step.connection)
    case 'crash':
      run.faults.arm(step)
      return
    default:
      throw new Error(`no such step in ${apps}`)
  }
}

const due = { $set: { claimableAt: new Date(0) } }
const activeIdle = (id: string) => ({ _id: id, status: 'active' as const, claimedBy: trusted({ $exists: false }) })

async function login({ world, model, accounts, apps, userRefs }: Run, step: Step & { kind: 'login' }): Promise<void> {
  const wanted = model.login(step)
  const command = await world.connect({
    userRef: at(userRefs, step.user),
    email: at(accounts, step.account),
    appId: at(apps, step.app),
  })
  if (wanted === 'held') return assert.is(command.failure?.code, 'account_held')
  if (!command.result) throw new Error(`not connected: ${command.failure?.message}`)
  model.connect({ ...step, id: command.result.connectionId })
}

async function expire({ world, model, accounts }: Run, account: number): Promise<void> {
  await world.site.control({ action: 'limit', account: at(accounts, account), after: null })
  await world.site.control({ action: 'end-sessions', account: at(accounts, account) })
  for (const { id } of model.expire(account)) {
    await until('reauth', async () => {
      await Connections.updateOne(activeIdle(id), due)
      return (await connectionOf(id)).status === 'needs_reauth'
    })
  }
}

async function purge(
  { world, model, apps, userRefs }: Run,
  targets: ModelConnection[],
  target: { connectionId: string } | { user: number; app: number },
): Promise<void> {
  const [first] = targets
  const user = 'user' in target ? target.user : (first?.user ?? 0)
  const app = 'app' in target ? target.app : (first?.app ?? 0)
  const userRef = at(userRefs, user)
  const appId = at(apps, app)
  const result = await world.purge('user' in target ? { userRef, appId } : { userRef, appId, ...target })
  if (!result) throw new Error('the purge did not end')
  const purged = model.purge(targets)
  assert.is(result.connectionsRevoked, purged.length)
  if (purged.length === 0) return assert.is(result.conversationsDeleted, 0)
  model.purges.push({
    event: 'user' in target ? 'data.deleted' : 'connection.deleted',
    connectionIds: purged.map(({ id }) => id),
    conversationsDeleted: result.conversationsDeleted,
  })
}

async function ingestExport(run: Run, index: number): Promise<void> {
  const { world, model, accounts, apps } = run
  if (model.connections.length === 0) return
  const connection = at(model.connections, index)
  const account = at(accounts, connection.account)
  const { conversations } = await world.site.control<{ conversations: unknown[] }>({ action: 'export', account })
  const command = await ingest(world, {
    connectionId: connection.id,
    appId: at(apps, connection.app),
    conversations: conversations.slice(0, 12),
  })
  if (connection.status === 'revoked') return assert.is(command.failure?.code, 'connection_revoked')
  if (!command.result) throw new Error(`not ingested: ${command.failure?.message}`)
  run.ingested.push({ connectionId: connection.id, counts: command.result })
}

/** Lets everything that is under way come to its end: every active connection reads its account completely once more. */
async function settle({ world, model, accounts }: Run): Promise<void> {
  for (const account of accounts) await world.site.control({ action: 'limit', account, after: null })
  const active = model.connections.filter(({ status }) => status === 'active')
  await Promise.all(
    active.map(async ({ id }) => {
      await until('an idle connection', async () => {
        const { matchedCount } = await Connections.updateOne(activeIdle(id), {
          $set: { claimableAt: new Date(0), 'sync.outcome': 'settling' },
        })
        return matchedCount > 0
      })
      await until(`a complete sync of ${id}`, async () => {
        const { sync, claimedBy } = await connectionOf(id)
        if (!claimedBy && sync.outcome?.startsWith('complete')) return true
        if (!claimedBy && sync.outcome !== 'settling') await makeDue(id)
        return false
      })
    }),
  )
}
