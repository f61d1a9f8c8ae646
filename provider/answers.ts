import { parseJson } from '../core/json.ts'
import { parseUrl } from '../core/parse-url.ts'
import { ProviderContractError } from './errors.ts'
import type { ProviderAnswer } from './request.ts'
import { asCount, asId, asObject, asString, asTime, field, type JsonObject } from './values.ts'

type Answer = Pick<ProviderAnswer, 'status' | 'body'>

interface ProviderAccount {
  id: string
  email?: string
  name?: string
}

/** `reason` is for people and logs; the native capture's `waiting` may pass it on. */
export type SessionCheck =
  | { usable: true; accessToken: string; account: ProviderAccount }
  | { usable: false; reason: string }

export interface ListItem {
  id: string
  title: string | null
  createTime: Date | null
  updateTime: Date | null
}

export interface ListPage {
  /** Entries without an id are left out. */
  items: ListItem[]
  /** All conversations of the account, where the provider says so. */
  total: number | null
  /** Where the next page begins; null after one that is not full and that the total, where there is one, calls the last. */
  nextOffset: number | null
  /** As many entries as were asked for, or as the provider gives at a time. */
  isFull: boolean
}

/** 401 and JSON without an access token both say: no usable session (login incomplete, or the provider ended it). */
export function readSession(answer: Answer): SessionCheck {
  if (answer.status === 401) return { usable: false, reason: 'the session call answers 401' }
  const body = asObject(jsonOf(answer, 'session call'))
  const accessToken = asString(field(body, 'accessToken'))
  if (!accessToken) return { usable: false, reason: 'the session call gives no access token' }
  const user = asObject(field(body, 'user'))
  const id = asId(field(user, 'id'))
  if (id === null) throw new ProviderContractError("The provider's session call names no account")
  if (!/^[\x21-\x7e]+$/.test(accessToken)) {
    throw new ProviderContractError("The provider's session call gives an access token that no header can hold")
  }
  const email = asString(field(user, 'email'))
  const name = asString(field(user, 'name'))
  return { usable: true, accessToken, account: { id, ...(email && { email }), ...(name && { name }) } }
}

export function readList(answer: Answer, { offset, limit }: { offset: number; limit: number }): ListPage {
  const body = asObject(jsonOf(answer, 'list call'))
  const entries = field(body, 'items')
  if (!Array.isArray(entries)) throw new ProviderContractError("The provider's list call has no items")
  const total = asCount(field(body, 'total'))
  const next = offset + entries.length
  const isFull = entries.length > 0 && entries.length >= Math.min(limit, asCount(field(body, 'limit')) ?? limit)
  const last = entries.length === 0 || (!isFull && (total === null || next >= total))
  return { items: entries.map(readItem).filter((item) => item !== null), total, nextOffset: last ? null : next, isFull }
}

function readItem(entry: unknown): ListItem | null {
  const item = asObject(entry)
  const id = asId(field(item, 'id'))
  if (id === null) return null
  return {
    id,
    title: asString(field(item, 'title')),
    createTime: asTime(field(item, 'create_time')),
    updateTime: asTime(field(item, 'update_time')),
  }
}

/** The conversation that was asked for, with its id even where the provider's object leaves that out. Null: 404. */
export function readConversation(answer: Answer, id: string): JsonObject | null {
  if (answer.status === 404 || answer.status === 410) return null
  const raw = asObject(jsonOf(answer, 'conversation call'))
  if (raw === null) throw new ProviderContractError("The provider's conversation call gives no object")
  const ids = [asId(field(raw, 'id')), asId(field(raw, 'conversation_id'))].filter((each) => each !== null)
  if (ids.length === 0) return { ...raw, id }
  if (ids.includes(id)) return raw
  throw new ProviderContractError("The provider's conversation call gives another conversation")
}

/** Where to fetch a file; null: 404. Relative addresses are of the API's host. */
export function readDownloadUrl(answer: Answer, apiBaseUrl: string): string | null {
  if (answer.status === 404 || answer.status === 410) return null
  const url = asString(field(asObject(jsonOf(answer, 'file call')), 'download_url'))
  const address = url ? parseUrl(url, apiBaseUrl) : null
  if (!address) throw new ProviderContractError("The provider's file call gives no address")
  return address.href
}

function jsonOf({ status, body }: Answer, what: string): unknown {
  if (status !== 200) throw new ProviderContractError(`The provider's ${what} answers ${status}`)
  try {
    return parseJson(body.toString('utf8'))
  } catch {
    // The parser's message quotes the text, which may be a token or somebody's conversation.
    throw new ProviderContractError(`The provider's ${what} answers no JSON that can be used`)
  }
}
