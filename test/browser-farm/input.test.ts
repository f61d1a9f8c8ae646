import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inputCalls } from '../../browser-farm/input.ts'
import { frameMessage, type KeyMessage, readPageMessage } from '../../wire/stream.ts'
import { CONTROL, LONGEST_TEXT, META, SHIFT } from '../../wire/stream-constants.ts'

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

input('no key and no button reaches the clipboard, which visitors share', () => {
  for (const modifiers of [CONTROL, META, CONTROL | SHIFT])
    for (const code of ['KeyC', 'KeyV', 'KeyX', 'Insert']) assert.equal(inputCalls(key(code, modifiers)), [])
  assert.equal(inputCalls(key('Insert', SHIFT)), [])
  assert.equal(inputCalls(key('Delete', SHIFT)), [])
  assert.is(inputCalls(key('KeyV', 0, { text: 'v' })).length, 1)
  assert.is(inputCalls(key('KeyA', CONTROL)).length, 1)
  const mouse = { type: 'mouse', action: 'down', x: 1, y: 1, buttons: 4, clicks: 1, modifiers: 0 } as const
  assert.equal(inputCalls({ ...mouse, button: 'middle' }), [])
})

input('a frame is its number, its size and the picture', () => {
  const message = frameMessage({ number: 70_000, width: 1280, height: 720, jpeg: Buffer.from('jpeg') })
  assert.is(message.toString('hex'), `00011170050002d0${Buffer.from('jpeg').toString('hex')}`)
})

input.run()
