import { randomUUID } from 'node:crypto'
import { extractConversation } from '../../../../provider/branch.ts'
import type { ConversationPayload } from '../../../../sdk/src/index.ts'
import type { ModelWorld } from './world.ts'

/** A conversation as the provider had it at one time. */
interface Version {
  payload: ConversationPayload
  updateTime: string | null
  firstMessageAt: Date | null
}

/** An account at the provider with everything that ever was in it. */
export interface ModelAccount {
  email: string
  /** Of each external id the versions, oldest first. */
  versions: Map<string, Version[]>
  /** External ids that are there now. */
  present: Set<string>
  /** How often the content of a conversation changed. */
  changes: number
}

type Site = ModelWorld['site']

function note({ versions, present }: ModelAccount, raw: unknown): void {
  const { externalId, title, messages, updateTime, firstMessageAt } = extractConversation(raw)
  const payload = JSON.parse(JSON.stringify({ title, messages })) as ConversationPayload
  const version = { payload, updateTime: updateTime?.toISOString() ?? null, firstMessageAt }
  versions.set(externalId, [...(versions.get(externalId) ?? []), version])
  present.add(externalId)
}

async function noteOne(site: Site, account: ModelAccount, id: string): Promise<void> {
  const { raw } = await site.control<{ raw: unknown }>({ action: 'raw', account: account.email, id })
  note(account, raw)
}

/** Everything that the account has now, in the provider's own form. */
export async function exportOf(site: Site, { email }: ModelAccount): Promise<unknown[]> {
  return (await site.control<{ conversations: unknown[] }>({ action: 'export', account: email })).conversations
}

export async function openAccount(site: Site, email: string): Promise<ModelAccount> {
  const account: ModelAccount = { email, versions: new Map(), present: new Set(), changes: 0 }
  for (const raw of await exportOf(site, account)) note(account, raw)
  return account
}

/** Half a year old: the first message of an old conversation that only now appears is no recent one. */
const OLD_S = 180 * 24 * 3600

export async function addConversation(
  site: Site,
  account: ModelAccount,
  { id = randomUUID(), old }: { id?: string; old: boolean },
): Promise<void> {
  const now = Date.now() / 1000
  const times = old ? { createTime: now - OLD_S, updateTime: now } : {}
  await site.control({ action: 'add', account: account.email, id, title: `Added ${id}`, ...times })
  await noteOne(site, account, id)
}

/** What a change is: more messages, another title, or nothing but the time of the last change. */
export type Change = 'messages' | 'title' | 'time'

export async function changeConversation(
  site: Site,
  account: ModelAccount,
  { id, change }: { id: string; change: Change },
): Promise<void> {
  const text = `Changed ${randomUUID()}`
  const fields = {
    messages: { messages: [{ role: 'user', text }] },
    title: { title: text },
    time: {},
  }
  await site.control({ action: 'change', account: account.email, id, ...fields[change] })
  await noteOne(site, account, id)
  if (change !== 'time') account.changes += 1
}

export async function deleteConversation(site: Site, account: ModelAccount, id: string): Promise<void> {
  await site.control({ action: 'delete', account: account.email, id })
  account.present.delete(id)
}
