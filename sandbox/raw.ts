import { createHash } from 'node:crypto'

/** The provider's own shape of a conversation (docs/provider.md, Conversations). */
export interface RawConversation {
  id: string
  conversation_id: string
  title: string | null
  create_time: number
  update_time: number
  current_node: string
  mapping: { [key: string]: RawNode }
}

export interface RawNode {
  id: string
  parent: string | null
  children: string[]
  message: { [key: string]: unknown } | null
}

/** Written out by hand, so that a test can hold an expectation that is written by hand as well. */
export type NodeRow = [id: string, parent: string | null, message: { [key: string]: unknown } | null]

export interface Turn {
  role: 'user' | 'assistant'
  text: string
  /** Unix seconds. */
  time: number
}

const MODEL = 'sandbox-1'

/** The id of an account's nth conversation (from 1): the same after every restart. */
export function conversationId(email: string, number: number): string {
  return `${digest(email)}-0000-4000-8000-${String(number).padStart(12, '0')}`
}

/** The number in an id made by `conversationId` for that account, or null. */
export function conversationNumber(email: string, id: string): number | null {
  const [, account, number] = /^([0-9a-f]{8})-0000-4000-8000-(\d{12})$/.exec(id) ?? []
  return account === digest(email) ? Number(number) : null
}

/** A conversation without branches: root, hidden system prompt, then the turns. */
export function linearConversation({
  id,
  title,
  turns,
}: {
  id: string
  title: string | null
  turns: Turn[]
}): RawConversation {
  const start = turns[0]?.time ?? 0
  const root: RawNode = { id: `${id}-root`, parent: null, children: [], message: null }
  const system = messageNode({ id: `${id}-system`, role: 'system', text: '', time: start })
  Object.assign(system.message ?? {}, { metadata: { is_visually_hidden_from_conversation: true } })
  const nodes = [root, system, ...turns.map((turn, i) => messageNode({ id: `${id}-m${i + 1}`, ...turn }))]
  for (const [i, node] of nodes.entries()) {
    node.parent = nodes[i - 1]?.id ?? null
    node.children = nodes[i + 1] ? [nodes[i + 1]?.id ?? ''] : []
  }
  return {
    id,
    conversation_id: id,
    title,
    create_time: start,
    update_time: turns.at(-1)?.time ?? start,
    current_node: nodes.at(-1)?.id ?? root.id,
    mapping: Object.fromEntries(nodes.map((node) => [node.id, node])),
  }
}

/** The conversation with more turns after its current node. */
export function continuedConversation(raw: RawConversation, turns: Turn[]): RawConversation {
  const mapping = { ...raw.mapping }
  let current = raw.current_node
  for (const turn of turns) {
    const node = messageNode({ id: `${raw.id}-m${Object.keys(mapping).length - 1}`, ...turn })
    const parent = mapping[current]
    if (parent) mapping[current] = { ...parent, children: [...parent.children, node.id] }
    mapping[node.id] = { ...node, parent: current }
    current = node.id
  }
  return { ...raw, mapping, current_node: current, update_time: turns.at(-1)?.time ?? raw.update_time }
}

function messageNode({ id, role, text, time }: { id: string; role: string; text: string; time: number }): RawNode {
  return {
    id,
    parent: null,
    children: [],
    message: {
      id,
      author: { role, name: null },
      create_time: time,
      content: { content_type: 'text', parts: [text] },
      status: 'finished_successfully',
      end_turn: role === 'assistant' ? true : null,
      metadata: role === 'assistant' ? { model_slug: MODEL } : {},
    },
  }
}

function digest(email: string): string {
  return createHash('sha256').update(email).digest('hex').slice(0, 8)
}
