import * as assert from 'uvu/assert'
import { BrowserProfiles } from '../../../../schemas/connection/browser-profile.ts'
import { type Connection, Connections } from '../../../../schemas/connection/connection.ts'
import { trusted } from '../../../../schemas/database.ts'
import { type Counts, compareConversations } from './conversations.ts'
import { compareEvents } from './events.ts'
import { at, type Run } from './history.ts'
import { compareListings } from './listings.ts'
import type { ModelConnection } from './model.ts'
import { askToIngest, REVOKED } from './requests.ts'

/**
 * Compares a settled history with the model. What an app can see is asked for as an app asks: of the API, with the key of the app that
 * may see it and with keys of others. Documents are looked at for nothing but what is promised and no app can see (`compareHidden`),
 * and for the events as they are sent (`compareEvents`).
 */
export async function compare(run: Run, { since }: { since: Date }): Promise<void> {
  const { connections } = run.model
  const compared = await Promise.all(
    connections.map(async (connection) => [connection.id, await compareConversations(run, connection)] as const),
  )
  const counts = new Map<string, Counts>(compared)
  const listed = await compareListings(run, { counts, since })
  const refusals = connections.map((connection) => compareRefusals(run, connection))
  await Promise.all([...refusals, compareStranger(run), compareHidden(run), compareEvents(run, { counts, listed })])
}

/** No other app is told that the connection exists; a revoked one takes no export. */
async function compareRefusals(run: Run, { id, app, status }: ModelConnection): Promise<void> {
  const other = run.apps.find((_, index) => index !== app) ?? run.world.stranger
  const hidden = await other.ask(`/api/conversations?connectionId=${id}`)
  assert.equal([hidden.status, hidden.body], [404, { error: 'Connection not found' }], 'no other app sees it')
  if (status !== 'revoked') return
  const answer = await askToIngest(at(run.apps, app), id, [])
  assert.equal([answer.status, answer.body], REVOKED)
}

/** A userRef is of one app: the stranger does not know the one who logged in first. */
async function compareStranger({ world, userRefs, model }: Run): Promise<void> {
  const userRef = at(userRefs, model.connections[0]?.user ?? 0)
  const { status, body } = await world.stranger.ask(`/api/connections?userRef=${encodeURIComponent(userRef)}`)
  assert.equal([status, body], [404, { error: 'User not found' }])
}

/**
 * What no app can see: a revoked connection has no key, credential, archive or browser profile left (docs/behaviour.md, Deletion), and however
 * much broke on the way, no connection was given up.
 */
async function compareHidden({ model, apps }: Run): Promise<void> {
  const ours = { appId: trusted({ $in: apps.map(({ appId }) => appId) }) }
  const stored = await Connections.find(ours).lean<Connection[]>()
  for (const { _id, status, key, credential, archiveId, archiveKey, quarantinedAt } of stored) {
    assert.is(quarantinedAt, undefined, 'no quarantine')
    const left = [key, credential, archiveId, archiveKey].filter((each) => each !== undefined)
    if (status === 'revoked') assert.is(left.length, 0, `nothing is left of ${_id}`)
  }
  const ids = model.connections.filter(({ status }) => status === 'revoked').map(({ id }) => id)
  assert.is(await BrowserProfiles.countDocuments({ _id: trusted({ $in: ids }) }), 0, 'no browser profile is left')
}
