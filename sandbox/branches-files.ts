import { createHash } from 'node:crypto'
import type { NodeRow } from './raw.ts'
import { at } from './times.ts'

const T3 = at('2025-02-12T08:00:00Z')
const T4 = at('2025-02-13T12:00:00Z')

export const attachments: NodeRow[] = [
  ['p0', null, null],
  [
    'p1',
    'p0',
    {
      author: { role: 'user', name: null },
      create_time: T3 + 0.2,
      content: {
        content_type: 'multimodal_text',
        parts: [
          {
            content_type: 'image_asset_pointer',
            asset_pointer: 'file-service://file-cat',
            size_bytes: 1234,
            width: 640,
            height: 480,
          },
          'What is this?',
        ],
      },
      status: 'finished_successfully',
      end_turn: null,
      metadata: { attachments: [{ id: 'file-cat', name: 'cat.png', size: 1234, mime_type: 'image/png' }] },
    },
  ],
  [
    'p2',
    'p1',
    {
      author: { role: 'assistant', name: null },
      create_time: T3 + 4,
      content: { content_type: 'text', parts: ['A tabby cat.'] },
      status: 'finished_successfully',
      end_turn: true,
      metadata: { model_slug: 'sandbox-1' },
    },
  ],
  [
    'p3',
    'p2',
    {
      author: { role: 'user', name: null },
      create_time: T3 + 60,
      content: { content_type: 'text', parts: ['And what does this say?'] },
      status: 'finished_successfully',
      end_turn: null,
      metadata: { attachments: [{ id: 'file-paper', name: 'paper.pdf', size: 4096, mime_type: 'application/pdf' }] },
    },
  ],
  [
    'p4',
    'p3',
    {
      author: { role: 'assistant', name: null },
      create_time: T3 + 64,
      content: { content_type: 'text', parts: ['It is about cats.'] },
      status: 'finished_successfully',
      end_turn: true,
      metadata: { model_slug: 'sandbox-1' },
    },
  ],
  [
    'p5',
    'p4',
    {
      author: { role: 'user', name: null },
      create_time: T3 + 120,
      content: {
        content_type: 'multimodal_text',
        parts: [
          {
            content_type: 'image_asset_pointer',
            asset_pointer: 'sediment://file_gone',
            size_bytes: 99,
            width: 10,
            height: 10,
          },
        ],
      },
      status: 'finished_successfully',
      end_turn: null,
      metadata: {},
    },
  ],
]

export const lostThread: NodeRow[] = [
  [
    'l1',
    'never-there',
    {
      author: { role: 'user', name: null },
      create_time: T4,
      content: { content_type: 'text', parts: ['Are you still there?'] },
      status: 'finished_successfully',
      end_turn: null,
      metadata: {},
    },
  ],
  [
    'l2',
    'l1',
    {
      author: { role: 'assistant', name: null },
      create_time: T4 + 10,
      content: { content_type: 'text', parts: ['An older leaf.'] },
      status: 'finished_successfully',
      end_turn: true,
      metadata: { model_slug: 'sandbox-1' },
    },
  ],
  [
    'l3',
    'l1',
    {
      author: { role: 'assistant', name: null },
      create_time: T4 + 20,
      content: { content_type: 'text', parts: ['Yes, I am.'] },
      status: 'finished_successfully',
      end_turn: true,
      metadata: { model_slug: 'sandbox-1' },
    },
  ],
]

/** The files that can be downloaded; `file_gone` is named by a message and is not among them. */
const FILES: { [id: string]: { bytes: number; type: string; magic: string } } = {
  'file-cat': { bytes: 1234, type: 'image/png', magic: '89504e470d0a1a0a' },
  'file-paper': { bytes: 4096, type: 'application/pdf', magic: '255044462d312e370a' },
}

/** The same bytes every time: the type's first bytes and then a hash chain of the id. */
export function fileOf(id: string): { bytes: Buffer; type: string } | null {
  const file = Object.hasOwn(FILES, id) ? FILES[id] : undefined
  if (!file) return null
  const chunks = [Buffer.from(file.magic, 'hex')]
  for (let i = 0; i * 32 < file.bytes; i++) chunks.push(createHash('sha256').update(`${id}:${i}`).digest())
  return { bytes: Buffer.concat(chunks).subarray(0, file.bytes), type: file.type }
}
