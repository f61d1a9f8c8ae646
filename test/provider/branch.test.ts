import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { extractConversation } from '../../provider/branch.ts'

type Node = { parent: unknown; message?: unknown; children?: unknown }
const T = 1760000000
const text = (id: string, role: string, content: string, seconds: unknown = T, more: object = {}) => ({
  id,
  author: { role },
  create_time: seconds,
  content: { content_type: 'text', parts: [content] },
  ...more,
})
const conversation = (mapping: Record<string, Node>, current_node?: unknown) => ({ id: 'c1', mapping, current_node })
const contents = (raw: unknown) => extractConversation(raw).messages.map(({ content }) => content)

test('the current branch is read downwards and siblings are left out', () => {
  const raw = conversation(
    {
      root: { parent: null, children: ['q'], message: null },
      q: { parent: 'root', children: ['a', 'b'], message: text('q', 'user', 'question', T) },
      a: { parent: 'q', children: [], message: text('a', 'assistant', 'first answer', T + 1) },
      b: { parent: 'q', children: ['c'], message: text('b', 'assistant', 'second answer', T + 2) },
      c: { parent: 'b', children: [], message: text('c', 'user', 'thanks', T + 3) },
    },
    'c',
  )
  assert.equal(contents(raw), ['question', 'second answer', 'thanks'])
})

test('a missing or dangling current node means the newest leaf', () => {
  const mapping = {
    q: { parent: null, message: text('q', 'user', 'question', T + 100) },
    b: { parent: 'q', message: text('b', 'assistant', 'newer', T + 2) },
    a: { parent: 'q', message: text('a', 'assistant', 'older', T + 1) },
    x: { parent: 'q', message: null },
  }
  for (const current of [undefined, null, 'gone', 7, 'constructor', '__proto__']) {
    assert.equal(contents(conversation(mapping, current)), ['question', 'newer'])
  }
})

test('cycles, dangling parents and missing children end the way up', () => {
  const mapping: Record<string, Node> = {
    a: { parent: 'b', message: text('a', 'user', 'a', T) },
    b: { parent: 'a', message: text('b', 'user', 'b', T + 1) },
    c: { parent: 'gone', message: text('c', 'user', 'c', T - 5) },
    d: { parent: 'd', message: text('d', 'user', 'd', T - 5) },
  }
  assert.equal(contents(conversation(mapping, 'a')), ['b', 'a'])
  assert.equal(contents(conversation(mapping, 'c')), ['c'])
  assert.equal(contents(conversation(mapping, 'd')), ['d'])
  const { c: _, ...cyclic } = mapping
  assert.equal(contents(conversation(cyclic)), ['a', 'b'])
})

test('system, hidden, empty and unknown messages are dropped', () => {
  const messages = [
    text('s', 'system', 'prompt'),
    text('h', 'user', 'hidden', T, { metadata: { is_visually_hidden_from_conversation: true } }),
    text('e', 'assistant', ''),
    text('x', 'critic', 'unknown role'),
    { id: 'n', author: { role: 'user' } },
    null,
    'text',
    text('k', 'user', 'kept'),
  ]
  const mapping = Object.fromEntries(
    messages.map((message, i) => [`n${i}`, { parent: i === 0 ? null : `n${i - 1}`, message }]),
  )
  assert.equal(contents(conversation(mapping, `n${messages.length - 1}`)), ['kept'])
})

test('every field of a message', () => {
  const extracted = extractConversation({
    conversation_id: 'c2',
    title: 'A cat',
    create_time: 1760000000.123,
    update_time: '2025-10-09T08:55:00.500999',
    current_node: 'n2',
    mapping: {
      n1: {
        parent: null,
        message: {
          id: 'm1',
          author: { role: 'user', name: null },
          create_time: 1760000000.2,
          content: {
            content_type: 'multimodal_text',
            parts: [
              {
                content_type: 'image_asset_pointer',
                asset_pointer: 'file-service://file-abc',
                size_bytes: 1234,
                width: 640,
                height: 480,
              },
              { content_type: 'audio_transcription', text: 'Spoken.' },
              {
                content_type: 'video',
                audio_asset_pointer: { content_type: 'audio_asset_pointer', asset_pointer: 'sediment://h#file_2#p' },
              },
              'What is this?',
            ],
          },
          status: 'finished_successfully',
          end_turn: null,
          metadata: {
            attachments: [
              { id: 'file-abc', name: 'cat.png', size: 9, mime_type: 'image/png' },
              { id: 'file-pdf', name: 'a.pdf', size: 77, mime_type: 'application/pdf' },
              { id: 'file-none' },
              { name: 'no id' },
              null,
            ],
          },
        },
      },
      n2: {
        parent: 'n1',
        message: {
          id: 'm2',
          author: { role: 'assistant' },
          create_time: null,
          content: { content_type: 'text', parts: ['A cat.', 'A tabby.'] },
          status: 'finished_successfully',
          end_turn: true,
          metadata: { model_slug: 'model-5', content_references: [{ url: 'https://example.com', deep: { er: [1] } }] },
        },
      },
    },
  })
  assert.equal(extracted, {
    externalId: 'c2',
    title: 'A cat',
    createTime: new Date('2025-10-09T08:53:20.123Z'),
    updateTime: new Date('2025-10-09T08:55:00.500Z'),
    firstMessageAt: new Date('2025-10-09T08:53:20.200Z'),
    messages: [
      {
        role: 'user',
        content: 'Spoken.\nWhat is this?',
        timestamp: '2025-10-09T08:53:20.200Z',
        id: 'm1',
        contentType: 'multimodal_text',
        status: 'finished_successfully',
        attachments: [
          {
            type: 'image_asset_pointer',
            asset_pointer: 'file-service://file-abc',
            name: 'cat.png',
            size_bytes: 1234,
            width: 640,
            height: 480,
          },
          { type: 'audio_asset_pointer', asset_pointer: 'sediment://h#file_2#p' },
          { type: 'application/pdf', asset_pointer: 'file-service://file-pdf', name: 'a.pdf', size_bytes: 77 },
          { type: 'file', asset_pointer: 'file-service://file-none' },
        ],
      },
      {
        role: 'assistant',
        content: 'A cat.\nA tabby.',
        timestamp: null,
        id: 'm2',
        contentType: 'text',
        model: 'model-5',
        status: 'finished_successfully',
        endTurn: true,
        contentReferences: [{ url: 'https://example.com', deep: { er: [1] } }],
      },
    ],
    files: [
      { fileId: 'file-abc', assetPointer: 'file-service://file-abc', name: 'cat.png', sizeBytes: 1234 },
      { fileId: 'file_2', assetPointer: 'sediment://h#file_2#p' },
      { fileId: 'file-pdf', assetPointer: 'file-service://file-pdf', name: 'a.pdf', sizeBytes: 77 },
      { fileId: 'file-none', assetPointer: 'file-service://file-none' },
    ],
  })
})

test('text of every content type is kept', () => {
  const kept = (content: unknown) =>
    contents(conversation({ a: { parent: null, message: { author: { role: 'tool' }, content } } }, 'a'))[0]
  assert.is(kept({ content_type: 'code', language: 'python', text: 'print(1)' }), 'print(1)')
  assert.is(kept({ content_type: 'execution_output', text: '1\n' }), '1\n')
  assert.is(kept({ content_type: 'tether_browsing_display', result: 'page' }), 'page')
  assert.is(kept({ content_type: 'reasoning_recap', content: 'thought' }), 'thought')
  assert.is(
    kept({ content_type: 'thoughts', thoughts: [{ summary: 's', content: 'long' }, { summary: 't' }, 3] }),
    'long\nt',
  )
  assert.is(kept({ content_type: 'new', parts: [{ text: 'a' }, 'b', 5, null] }), 'a\nb')
  assert.is(kept({ parts: ['no type'] }), 'no type')
  assert.is(kept({ content_type: 'empty' }), undefined)
})

test('rubbish times are null', () => {
  for (const time of [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -1,
    0,
    1e20,
    1760000000000,
    '',
    'yesterday',
    '9999999',
    {},
    [],
    true,
  ]) {
    const raw = { ...conversation({ a: { parent: null, message: text('a', 'user', 'x', time) } }), create_time: time }
    const { createTime, messages, firstMessageAt } = extractConversation(raw)
    assert.equal([createTime, messages[0]?.timestamp, firstMessageAt], [null, null, null], String(time))
  }
})

test('a tree of 50,000 nodes, deep or wide', () => {
  const deep: Record<string, Node> = {}
  const wide: Record<string, Node> = { n0: { parent: null, message: text('n0', 'user', '0', T) } }
  for (let i = 0; i < 50_000; i++) {
    deep[`n${i}`] = { parent: i === 0 ? null : `n${i - 1}`, message: text(`n${i}`, 'user', String(i), T + i) }
    if (i > 0) wide[`n${i}`] = { parent: 'n0', message: text(`n${i}`, 'user', String(i), T + i) }
  }
  assert.is(contents(conversation(deep)).length, 50_000)
  assert.equal(contents(conversation(wide)), ['0', '49999'])
})

test('an object without an id is the only error', () => {
  for (const raw of [null, [], 'x', {}, { id: '' }, { id: {} }]) {
    assert.throws(() => extractConversation(raw), /neither id nor conversation_id/)
  }
  assert.is(extractConversation({ id: '', conversation_id: 'c' }).externalId, 'c')
})

test.run()
