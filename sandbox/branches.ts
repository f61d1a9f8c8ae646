import { attachments, lostThread } from './branches-files.ts'
import { conversationId, type NodeRow, type RawConversation, type RawNode } from './raw.ts'
import { at } from './times.ts'

const T1 = at('2025-02-10T10:00:00Z')
const T2 = at('2025-02-11T15:30:00Z')

const regenerated: NodeRow[] = [
  ['r0', null, null],
  [
    'r1',
    'r0',
    {
      author: { role: 'system', name: null },
      create_time: T1,
      content: { content_type: 'text', parts: ['You are helpful.'] },
      metadata: {},
    },
  ],
  [
    'r2',
    'r1',
    {
      author: { role: 'user', name: null },
      create_time: T1 + 1.25,
      content: { content_type: 'text', parts: ['Name a colour.'] },
      status: 'finished_successfully',
      end_turn: null,
      metadata: {},
    },
  ],
  [
    'r3',
    'r2',
    {
      author: { role: 'assistant', name: null },
      create_time: T1 + 3,
      content: { content_type: 'text', parts: ['Red.'] },
      status: 'finished_successfully',
      end_turn: true,
      metadata: { model_slug: 'sandbox-1' },
    },
  ],
  [
    'r4',
    'r2',
    {
      author: { role: 'assistant', name: null },
      create_time: T1 + 20.5,
      content: { content_type: 'text', parts: ['Blue.'] },
      status: 'finished_successfully',
      end_turn: true,
      metadata: { model_slug: 'sandbox-2' },
    },
  ],
  [
    'r5',
    'r4',
    {
      author: { role: 'user', name: null },
      create_time: T1 + 40,
      content: { content_type: 'text', parts: ['And a fruit?'] },
      status: 'finished_successfully',
      end_turn: null,
      metadata: {},
    },
  ],
  [
    'r6',
    'r5',
    {
      author: { role: 'assistant', name: null },
      create_time: T1 + 42,
      content: { content_type: 'text', parts: ['Apple.'] },
      status: 'finished_successfully',
      end_turn: true,
      metadata: { model_slug: 'sandbox-2' },
    },
  ],
  [
    'r7',
    'r4',
    {
      author: { role: 'user', name: null },
      create_time: T1 + 60,
      content: { content_type: 'text', parts: ['And a vegetable?'] },
      status: 'finished_successfully',
      end_turn: null,
      metadata: {},
    },
  ],
  [
    'r8',
    'r7',
    {
      author: { role: 'assistant', name: null },
      create_time: T1 + 62,
      content: { content_type: 'text', parts: ['Carrot.', 'Or leek.'] },
      status: 'finished_successfully',
      end_turn: true,
      metadata: { model_slug: 'sandbox-2' },
    },
  ],
]

const tools: NodeRow[] = [
  ['t0', null, null],
  [
    't1',
    't0',
    {
      author: { role: 'user', name: null },
      create_time: T2,
      content: { content_type: 'text', parts: ['My profile: likes maps.'] },
      status: 'finished_successfully',
      end_turn: null,
      metadata: { is_visually_hidden_from_conversation: true },
    },
  ],
  [
    't2',
    't1',
    {
      author: { role: 'user', name: null },
      create_time: T2 + 5,
      content: { content_type: 'text', parts: ['What is 2 to the power of 16, and where can I read about it?'] },
      status: 'finished_successfully',
      end_turn: null,
      metadata: {},
    },
  ],
  [
    't3',
    't2',
    {
      author: { role: 'assistant', name: null },
      create_time: T2 + 6,
      content: { content_type: 'code', language: 'python', text: 'print(2 ** 16)' },
      status: 'finished_successfully',
      end_turn: false,
      metadata: { model_slug: 'sandbox-1' },
    },
  ],
  [
    't4',
    't3',
    {
      author: { role: 'tool', name: 'python' },
      create_time: T2 + 7,
      content: { content_type: 'execution_output', text: '65536\n' },
      status: 'finished_successfully',
      end_turn: null,
      metadata: {},
    },
  ],
  [
    't5',
    't4',
    {
      author: { role: 'assistant', name: null },
      create_time: T2 + 8,
      content: { content_type: 'text', parts: [''] },
      status: 'finished_successfully',
      end_turn: false,
      metadata: { model_slug: 'sandbox-1' },
    },
  ],
  [
    't6',
    't5',
    {
      author: { role: 'tool', name: 'browser' },
      create_time: null,
      content: { content_type: 'page_view', result: 'Power of two - an article' },
      status: 'finished_successfully',
      metadata: {},
    },
  ],
  [
    't7',
    't6',
    {
      author: { role: 'assistant', name: null },
      create_time: T2 + 10,
      content: { content_type: 'text', parts: ['It is 65,536 [1].'] },
      status: 'finished_successfully',
      end_turn: true,
      metadata: {
        model_slug: 'sandbox-1',
        content_references: [
          {
            type: 'webpage',
            title: 'Power of two',
            url: 'https://example.com/power-of-two',
            start_idx: 13,
            end_idx: 16,
          },
        ],
      },
    },
  ],
]

/** `branches`' four conversations: regenerated answers, tool calls, attachments, a dangling current node. */
export function branchesConversations(email: string): RawConversation[] {
  const rows: [title: string, current: string, update: number, rows: NodeRow[]][] = [
    ['Regenerated answer', 'r8', T1 + 62, regenerated],
    ['Tools and citations', 't7', T2 + 10.125, tools],
    ['Pictures and papers', 'p5', at('2025-02-12T08:02:00Z'), attachments],
    ['Lost thread', 'not-there', at('2025-02-13T12:00:20Z'), lostThread],
  ]
  return rows.map(([title, current, update, nodes], i) => {
    const id = conversationId(email, i + 1)
    const create = nodes.map(([, , message]) => message?.['create_time']).find((time) => typeof time === 'number')
    return {
      id,
      conversation_id: id,
      title,
      create_time: create ?? update,
      update_time: update,
      current_node: current,
      mapping: toMapping(nodes),
    }
  })
}

function toMapping(rows: NodeRow[]): { [key: string]: RawNode } {
  const nodes = rows.map(([id, parent, message]) => ({
    id,
    parent,
    children: rows.filter((row) => row[1] === id).map((row) => row[0]),
    message: message && { id: `message-${id}`, ...message },
  }))
  return Object.fromEntries(nodes.map((node) => [node.id, node]))
}
