import { setTimeout as sleep } from 'node:timers/promises'
import { signLink } from '../../../sdk/src/index.ts'
import { captureSession, nativeApp } from '../../support/native-app.ts'
import type { Flow, History } from './history.ts'
import type { Random } from './random.ts'
import { type Step, stepsOf } from './schedule.ts'
import type { ChaosWorld } from './world.ts'

/** An answer that does not come in this time never comes: whoever waits for it asks again. */
const ANSWER_MS = 40_000
/** Somebody who was told to ask again does so for this long: a request whose process dies holds a capture for a minute. */
const PATIENCE_MS = 75_000
const AGAIN_MS = 500

export interface ChaosUser {
  userRef: string
  /** Its own account, and one that other users try to connect too. */
  accounts: { own: string; shared: string }
}

interface Run {
  world: ChaosWorld
  history: History
  user: ChaosUser
  random: Random
  /** No further step begins. */
  isOver(): boolean
}

interface Answer {
  status: number
  body: Record<string, unknown>
}

/** Lives a user's life until it is over: one step after the other, whatever comes of it. */
export async function live(run: Run): Promise<void> {
  for (const step of stepsOf(run.random)) {
    if (run.isOver()) return
    const other = step.beside && act(run, { ...step, action: step.beside })
    await act(run, step)
    await other
    await sleep(step.pauseMs)
  }
}

async function act(run: Run, { action }: Step): Promise<void> {
  const { history, user } = run
  const begun = performance.now()
  let outcome = ''
  try {
    outcome = await ACTIONS[action](run)
  } catch (error) {
    outcome = error instanceof Error ? error.message : String(error)
  }
  const tookMs = Math.round(performance.now() - begun)
  history.notes.push(`${Math.round(performance.now())} ${user.userRef} ${action} (${tookMs} ms): ${outcome}`)
}

const ACTIONS: Record<Step['action'], (run: Run) => Promise<string>> = {
  connect: (run) => connect(run, run.user.accounts.own),
  'connect-other': (run) => connect(run, run.user.accounts.shared),
  add: async ({ world, user: { accounts } }) => {
    const { id } = await control<{ id: string }>(world, { action: 'add', account: accounts.own })
    return id
  },
  'end-sessions': async ({ world, user: { accounts } }) => {
    await control(world, { action: 'end-sessions', account: accounts.own })
    return ''
  },
  ingest,
  purge: (run) => purge(run, {}),
  'purge-connection': async (run) => {
    const connectionId = anyConnection(run)
    return connectionId ? purge(run, { connectionId }) : 'none'
  },
  sync: async ({ world: { service }, ...run }) => {
    const connectionId = anyConnection(run)
    if (!connectionId) return 'none'
    const answer = await ask(`${service.operator.url}/connections/${connectionId}/sync`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.operator.key}` },
    })
    return String(answer.status)
  },
}

/** The newest that the user was told of, or now and then an earlier one. */
function anyConnection({ history, user, random }: Pick<Run, 'history' | 'user' | 'random'>): string | undefined {
  const mine = history.flows.filter(({ userRef }) => userRef === user.userRef)
  const ids = mine.flatMap(({ connected }) => connected?.connectionId ?? [])
  return ids.at(random.below(4) === 0 ? random.below(ids.length) : -1)
}

async function connect({ world: { service }, history, user: { userRef } }: Run, email: string): Promise<string> {
  const app = nativeApp({ baseUrl: service.baseUrl })
  const { token } = signLink({ ...service.app, userRef, baseUrl: service.baseUrl })
  const flow: Flow = { userRef, sentAt: performance.now() }
  history.flows.push(flow)
  const started = await inTime(app.start({ token, device: { platform: 'chaos' } }))
  if (started.status !== 200) return `start: ${started.status} ${started.body.error}`
  flow.begunAt = performance.now()
  const session = await captureSession({ site: service.provider.site, email })
  const end = performance.now() + PATIENCE_MS
  for (let last = 'no answer'; ; last = await asked(last)) {
    if (flow.connected || performance.now() > end || last.startsWith('!')) return last
  }

  async function asked(before: string): Promise<string> {
    try {
      const { status, body } = await inTime(app.capture(started.body, session))
      if (status === 200 && body.status === 'connected') {
        const { connectionId } = body
        flow.connected = { at: performance.now(), connectionId }
        return connectionId
      }
      if (status >= 400 && status < 500) return `! ${status} ${body.error} after ${before}`
      await sleep(AGAIN_MS)
      return `${status} ${JSON.stringify(body)}`
    } catch (error) {
      await sleep(AGAIN_MS)
      return String(error)
    }
  }
}

/** Whether a purge that this user has asked for since may have ended the newest connection that it was told of. */
function mayBeGone({ history, user }: Pick<Run, 'history' | 'user'>): boolean {
  const mine = history.flows.filter(({ userRef, connected }) => userRef === user.userRef && connected)
  const connectedAt = mine.at(-1)?.connected?.at ?? 0
  return history.purges.some(({ userRef, sentAt }) => userRef === user.userRef && sentAt > connectedAt)
}

async function ingest(run: Run): Promise<string> {
  const { world, history, user, random } = run
  // As its app would have it do; now and then somebody tries without.
  if (mayBeGone(run) && random.below(4) > 0) await connect(run, user.accounts.own)
  const connectionId = anyConnection(run)
  if (!connectionId) return 'none'
  const { conversations } = await control<{ conversations: Record<string, unknown>[] }>(world, {
    action: 'export',
    account: user.accounts.own,
  })
  const name = `export-${random.below(1e9)}`
  const added = [1, 2, 3].map((number) => ({
    ...conversations[0],
    id: `${name}-${number}`,
    conversation_id: `${name}-${number}`,
    title: `${name}-${number}`,
  }))
  const ingestion = {
    connectionId,
    externalIds: added.map(({ id }) => id),
    sentAt: performance.now(),
  }
  history.ingestions.push(ingestion)
  const { service } = world
  const { status, body } = await ask(`${service.baseUrl}/api/ingest-export?connectionId=${connectionId}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.app.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(added),
  })
  if (status === 200) Object.assign(ingestion, { doneAt: performance.now() })
  return `${connectionId} ${name}: ${status} ${JSON.stringify(body)}`
}

async function purge(
  { world: { service }, history, user: { userRef } }: Run,
  target: { connectionId?: string },
): Promise<string> {
  const sentAt = performance.now()
  const asked = { userRef, sentAt, ...target }
  history.purges.push(asked)
  const { status, body } = await ask(`${service.baseUrl}/api/purge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.app.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ appId: service.app.appId, ...(target.connectionId ? target : { userRef }) }),
  })
  if (status === 200) Object.assign(asked, { doneAt: performance.now() })
  return `${target.connectionId ?? 'all'}: ${status} ${JSON.stringify(body)}`
}

async function ask(url: string, init: RequestInit): Promise<Answer> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) })
  const text = await answer.text()
  return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : { text } }
}

export const control = async <T>({ service }: Pick<ChaosWorld, 'service'>, order: object): Promise<T> => {
  const answer = await fetch(`${service.provider.site}/__control`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  })
  return (await answer.json()) as T
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), ANSWER_MS)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}
