import { checkEvents } from './check-events.ts'
import type { Findings } from './findings.ts'
import type { History } from './history.ts'
import { HOSTED_EMAIL } from './hosted.ts'
import { collections } from './settle.ts'
import { type ChaosUser, control } from './user.ts'
import type { ChaosWorld } from './world.ts'

/** Everything that was acknowledged holds. Returns what does not. */
export async function check({
  world,
  history,
  users,
}: {
  world: ChaosWorld
  history: History
  users: ChaosUser[]
}): Promise<string[]> {
  const { connections } = collections(world.client)
  const all = await connections.find().toArray()
  const live = all.filter(({ status }) => status === 'active' || status === 'needs_reauth')
  const findings: Findings = { wrong: [], all, live }
  checkConnections(findings, history)
  checkAccounts(findings)
  await checkNothingLeft(findings, world)
  await checkConversations(findings, { world, history, users })
  await checkEvents(findings, { world, history })
  return findings.wrong
}

/** What was acknowledged to be connected is there, or was replaced or deleted; what was acknowledged to be deleted is not in use. */
function checkConnections({ wrong, all, live }: Findings, { flows, purges }: History): void {
  const byId = new Map(all.map((connection) => [connection._id, connection]))
  const replaced = new Set(all.flatMap(({ replaces }) => replaces ?? []))
  for (const { _id, status } of all) if ((status as string) === 'pending') wrong.push(`${_id} is still pending`)
  for (const flow of flows) {
    const id = flow.connected?.connectionId
    const connection = id && byId.get(id)
    if (!id) continue
    if (!connection) {
      wrong.push(`${id} was connected and is not there`)
      continue
    }
    if (connection.userRef !== flow.userRef) wrong.push(`${id} is another user's`)
    if (connection.status === 'revoked' && !replaced.has(id) && !connection.purge)
      wrong.push(`${id} is revoked, and nobody replaced or deleted it`)
    const deletion = purges.find(
      (purge) =>
        purge.userRef === flow.userRef &&
        purge.doneAt !== undefined &&
        (purge.connectionId === undefined
          ? (flow.begunAt ?? Number.POSITIVE_INFINITY) < purge.sentAt
          : purge.connectionId === id),
    )
    if (deletion && connection.status !== 'revoked')
      wrong.push(`${id} is in use after a purge that was sent at ${deletion.sentAt}`)
  }
  for (const { _id, purge, userRef } of all) {
    const asked = purges.some((each) => each.userRef === userRef && (!each.connectionId || each.connectionId === _id))
    if (purge && !asked) wrong.push(`${_id} was deleted, and nobody asked for it`)
    if (purge && !purge.finishedAt) wrong.push(`the deletion of ${_id} has not ended`)
  }
  for (const { _id, replaces } of live)
    for (const old of replaces ?? [])
      if (byId.get(old)?.status !== 'revoked') wrong.push(`${old} is in use beside ${_id}, which replaces it`)
}

/** One account, one user, and one connection of it. */
function checkAccounts({ wrong, live }: Findings): void {
  for (const accountId of new Set(live.map((connection) => connection.accountId))) {
    const list = live.filter((connection) => connection.accountId === accountId)
    if (list.length > 1) wrong.push(`${accountId} has ${list.map(({ _id, userRef }) => `${_id} (${userRef})`)}`)
  }
}

/** Whatever belongs to no connection in use is gone. */
async function checkNothingLeft({ wrong, live, all }: Findings, { client }: ChaosWorld): Promise<void> {
  const { database } = collections(client)
  const archives = new Set(live.map(({ archiveId }) => archiveId))
  for (const name of ['conversations', 'conversation_bodies', 'conversation_parts', 'attachments'])
    for (const archiveId of await database.collection(name).distinct('archiveId'))
      if (!archives.has(archiveId)) wrong.push(`${name} of the archive ${archiveId}, which is nobody's`)
  for (const [name, field] of [
    ['attachment_files.files', '_id'],
    ['attachment_files.chunks', 'files_id'],
  ] as const)
    for (const id of await database.collection(name).distinct(field))
      if (!archives.has(String(id).split('|')[0])) wrong.push(`${name} of ${id}, which is nobody's`)
  const ids = new Set(live.map(({ _id }) => _id))
  for (const id of await database.collection('browser_profiles').distinct('_id'))
    if (!ids.has(String(id))) wrong.push(`a browser profile of ${id}`)
  for (const { _id, key, credential, archiveKey, archiveId, emailHash, device } of all)
    if (!ids.has(_id) && (key || credential || archiveKey || archiveId || emailHash || device))
      wrong.push(`${_id} is revoked and has something left`)
  const sealed = {
    state: { $ne: 'waiting' },
    $or: [{ 'args.key': { $exists: true } }, { 'args.device': { $exists: true } }],
  }
  for (const { _id } of await database.collection('commands').find(sealed).toArray())
    wrong.push(`the command ${_id} has ended and has something left`)
}

/** Every connection in use has what the provider has, and what was ingested into it or into what it replaced. */
async function checkConversations(
  { wrong, all, live }: Findings,
  { world, history, users }: { world: ChaosWorld; history: History; users: ChaosUser[] },
): Promise<void> {
  const { database } = collections(world.client)
  const emails = [...new Set([HOSTED_EMAIL, ...users.flatMap(({ accounts }) => [accounts.own, accounts.shared])])]
  const lists = await Promise.all(
    emails.map(async (account) => {
      type List = { conversations: { id: string; title: string }[] }
      const { conversations } = await control<List>(world, { action: 'list', account })
      return new Set(conversations.map(({ id }) => id))
    }),
  )
  for (const { _id, archiveId, userRef, status } of live) {
    const stored = new Set(
      await database.collection('conversations').distinct('externalId', { archiveId }),
    ) as Set<string>
    const list = lists.find((each) => [...each].some((id) => stored.has(id)))
    if (!list) {
      if (status === 'active') wrong.push(`${_id} of ${userRef} has nothing of its account`)
      continue
    }
    // A session that has ended reads nothing more.
    const missing = status === 'active' ? [...list].filter((id) => !stored.has(id)) : []
    if (missing.length > 0) wrong.push(`${_id} of ${userRef} lacks ${missing.length}, as ${missing[0]}`)
    const inherited = new Set([_id])
    for (let grew = true; grew; ) {
      const more = all.filter((each) => inherited.has(each._id)).flatMap(({ replaces }) => replaces ?? [])
      const fresh = more.filter((id) => !inherited.has(id) && !all.find((each) => each._id === id)?.purge)
      for (const id of fresh) inherited.add(id)
      grew = fresh.length > 0
    }
    for (const { connectionId, externalIds, doneAt } of history.ingestions)
      if (doneAt !== undefined && inherited.has(connectionId) && !externalIds.every((id) => stored.has(id)))
        wrong.push(`${_id} of ${userRef} lacks what was ingested: ${externalIds[0]}`)
    for (const id of stored)
      if (!list.has(id) && !history.ingestions.some(({ externalIds }) => externalIds.includes(id)))
        wrong.push(`${_id} of ${userRef} has ${id}, which is no conversation of its account`)
  }
}
