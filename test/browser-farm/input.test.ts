import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inputCalls } from '../../browser-farm/input.ts'
import { createFrameReader, type Frame, frameMessages } from '../../wire/frame.ts'
import { type KeyMessage, readPageMessage } from '../../wire/stream.ts'
import { ALT, CONTROL, LONGEST_TEXT, META, SHIFT } from '../../wire/stream-constants.ts'

const input = suite('messages of the page')

const key = (code: string, modifiers: number, more: Partial<KeyMessage> = {}): KeyMessage => ({
  type: 'key',
  action: 'down',
  key: code.slice(-1).toLowerCase(),
  code,
  keyCode: 65,
  location: 0,
  repeat: false,
  modifiers,
  ...more,
})

input('what is no message is refused', () => {
  const message = { type: 'mouse', action: 'down', x: 1, y: 2, button: 'left', buttons: 1, clicks: 1, modifiers: 0 }
  assert.equal(readPageMessage(JSON.stringify(message)), message)
  for (const wrong of [
    'nonsense',
    'null',
    '[]',
    JSON.stringify({ ...message, x: '1' }),
    JSON.stringify({ ...message, x: 1e9 }),
    JSON.stringify({ ...message, more: true }),
    JSON.stringify({ ...message, type: 'evaluate' }),
    JSON.stringify({ type: 'text', text: 'x'.repeat(LONGEST_TEXT + 1) }),
  ]) {
    assert.is(readPageMessage(wrong), null, wrong.slice(0, 80))
  }
})

input('no key and no button reaches the clipboard', () => {
  for (const modifiers of [CONTROL, META, CONTROL | SHIFT])
    for (const code of ['KeyC', 'KeyV', 'KeyX', 'Insert']) assert.equal(inputCalls(key(code, modifiers)), [])
  assert.equal(inputCalls(key('Insert', SHIFT)), [])
  assert.equal(inputCalls(key('Delete', SHIFT)), [])
  assert.is(inputCalls(key('KeyV', 0, { text: 'v' })).length, 1)
  assert.is(inputCalls(key('KeyA', CONTROL)).length, 1)
  const mouse = { type: 'mouse', action: 'down', x: 1, y: 1, buttons: 4, clicks: 1, modifiers: 0 } as const
  assert.equal(inputCalls({ ...mouse, button: 'middle' }), [])
})

input('a combination whose key, code and keyCode disagree reaches nothing', () => {
  for (const [name, code, keyCode] of [
    ['q', 'KeyQ', 86],
    ['a', 'KeyA', 86],
    ['v', 'KeyA', 65],
    ['a', 'KeyV', 65],
    ['\u0444', 'KeyV', 65],
    ['Insert', 'KeyA', 65],
    ['Copy', 'Copy', 67],
  ] as const) {
    assert.equal(inputCalls(key(code, CONTROL, { key: name, keyCode })), [], `${name} ${code} ${keyCode}`)
  }
  assert.equal(inputCalls(key('Delete', SHIFT, { key: 'Delete', keyCode: 46 })), [])
  assert.equal(inputCalls(key('ArrowLeft', ALT, { key: 'ArrowLeft', keyCode: 37 })), [])
  // Other layouts: the letter under another key, another letter under the same.
  for (const [name, code] of [
    ['a', 'KeyQ'],
    ['\u0444', 'KeyA'],
  ] as const)
    assert.is(inputCalls(key(code, CONTROL, { key: name, keyCode: 65 })).length, 1)
})

const names = [
  'a',
  'c',
  'v',
  'x',
  'z',
  'V',
  '\u0444',
  '1',
  'Insert',
  'Delete',
  'Copy',
  'Cut',
  'Paste',
  'Enter',
  'Control',
  'F5',
]
const codes = [
  'KeyA',
  'KeyC',
  'KeyV',
  'KeyX',
  'KeyQ',
  'KeyZ',
  'Insert',
  'Delete',
  'Copy',
  'Paste',
  'Numpad0',
  'Enter',
  '',
  'F5',
]
const CLIPBOARD_KEY_CODES = [45, 67, 86, 88]

input('whatever is sent, what the browser is given is no shortcut but those of editing', () => {
  const message = fc.record({
    key: fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 3 })),
    code: fc.constantFrom(...codes),
    keyCode: fc.oneof(fc.constantFrom(45, 46, 65, 67, 86, 88, 90), fc.nat(255)),
    modifiers: fc.nat(15),
    action: fc.constantFrom('down', 'up'),
    text: fc.constantFrom(undefined, 'v', '\u0016', '\u0003'),
  })
  fc.assert(
    fc.property(message, ({ text, code, modifiers, ...more }) => {
      for (const [, params] of inputCalls(key(code, modifiers, { ...more, ...(text !== undefined && { text }) }))) {
        const given = params as { modifiers: number; windowsVirtualKeyCode: number; key: string; text?: string }
        assert.is(given.modifiers & (ALT | META), 0)
        assert.not.ok(given.text !== undefined && given.text !== given.key && given.text !== '\r')
        if ((given.modifiers & CONTROL) !== 0) {
          assert.not.ok(CLIPBOARD_KEY_CODES.includes(given.windowsVirtualKeyCode))
          assert.not.ok(['c', 'v', 'x'].includes(given.key.toLowerCase()))
        }
        if ((given.modifiers & SHIFT) !== 0) assert.not.ok([45, 46].includes(given.windowsVirtualKeyCode))
      }
    }),
    { numRuns: 5_000 },
  )
})

input('a frame comes whole, whatever the socket before it left', () => {
  const frames: Frame[] = []
  const read = createFrameReader((frame) => frames.push(frame))
  const pictureOf = (bytes: number) => ({ width: 1280, height: 720, jpeg: new Uint8Array(randomBytes(bytes)) })
  const [lost] = frameMessages({ number: 70_000, ...pictureOf(20_000) })
  const sent = [1, 8_192, 8_193, 100_000].map((bytes, number) => ({ number, ...pictureOf(bytes) }))
  if (lost) read(lost)
  for (const frame of sent) for (const message of frameMessages(frame)) read(message)
  assert.equal(frames, sent)
})

input.run()
