import type { FileReference } from './attachments.ts'
import { type Message, readMessage } from './message.ts'
import { asId, asObject, asString, asTime, entry, field, type JsonObject } from './values.ts'

export type { FileReference } from './attachments.ts'

/** What the service keeps of one provider conversation beside the raw object. */
export interface ExtractedConversation {
  externalId: string
  title: string | null
  createTime: Date | null
  updateTime: Date | null
  /** The current branch in chronological order. */
  messages: Message[]
  /** Date of the first message; where it has none, the conversation's own; null without messages. */
  firstMessageAt: Date | null
  /** The files of those messages, each once. */
  files: FileReference[]
}

/**
 * Reads a provider's conversation object (docs/provider.md, Conversations): follows the current branch and turns its
 * messages into those of docs/behaviour.md, Message. Accepts any JSON value, in time linear in its size; the only error is the one for an object
 * without any id.
 */
export function extractConversation(raw: unknown): ExtractedConversation {
  const source = asObject(raw)
  const externalId = asId(field(source, 'id')) ?? asId(field(source, 'conversation_id'))
  if (externalId === null) throw new Error('A conversation object has neither id nor conversation_id')
  const createTime = asTime(field(source, 'create_time'))

  const messages: Message[] = []
  const files = new Map<string, FileReference>()
  for (const node of currentBranch(source)) {
    const read = readMessage(field(node, 'message'))
    if (read === null) continue
    messages.push(read.message)
    for (const file of read.files) if (!files.has(file.fileId)) files.set(file.fileId, file)
  }
  const [first] = messages
  return {
    externalId,
    title: asString(field(source, 'title')),
    createTime,
    updateTime: asTime(field(source, 'update_time')),
    messages,
    firstMessageAt: first ? (asTime(first.timestamp) ?? createTime) : null,
    files: [...files.values()],
  }
}

/** The nodes from the root down to the current node. A cycle or a parent that is not there ends the way up. */
function currentBranch(conversation: JsonObject | null): JsonObject[] {
  const mapping = asObject(field(conversation, 'mapping'))
  if (mapping === null) return []
  const current = asString(field(conversation, 'current_node'))
  const seen = new Set<string>()
  const branch: JsonObject[] = []
  let key = current !== null && asObject(entry(mapping, current)) ? current : newestLeaf(mapping)
  while (key !== null && !seen.has(key)) {
    const node = asObject(entry(mapping, key))
    if (node === null) break
    seen.add(key)
    branch.push(node)
    key = asString(field(node, 'parent'))
  }
  return branch.reverse()
}

/**
 * The node to start from when `current_node` is missing or dangling: the newest by `create_time` of those that are
 * nobody's parent; of all nodes where cycles leave none. `parent` decides, as it does for the way up: `children` may be
 * missing. The later in the object wins a tie.
 */
function newestLeaf(mapping: JsonObject): string | null {
  const keys = Object.keys(mapping).filter((key) => asObject(mapping[key]))
  const parents = new Set(keys.map((key) => field(asObject(mapping[key]), 'parent')))
  const leaves = keys.filter((key) => !parents.has(key))
  let newest: string | null = null
  let newestTime = Number.NEGATIVE_INFINITY
  for (const key of leaves.length > 0 ? leaves : keys) {
    const message = asObject(field(asObject(mapping[key]), 'message'))
    const time = asTime(field(message, 'create_time'))?.getTime() ?? 0
    if (time >= newestTime) {
      newest = key
      newestTime = time
    }
  }
  return newest
}
