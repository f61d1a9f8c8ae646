import type { CDPSession } from 'playwright'
import type { KeyMessage, MouseMessage, PageMessage } from '../wire/stream.ts'
import { allowedKey } from './keys.ts'

/** One call of the browser's debugging protocol. */
type InputCall = [method: Parameters<CDPSession['send']>[0], params: object]

const KEYPAD = 3
const BACKSPACE = { key: 'Backspace', code: 'Backspace', windowsVirtualKeyCode: 8 }
const MOUSE_TYPES = { move: 'mouseMoved', down: 'mousePressed', up: 'mouseReleased' } as const
const TOUCH_TYPES = { start: 'touchStart', move: 'touchMove', end: 'touchEnd', cancel: 'touchCancel' } as const

/** Carries one input message out in the page behind `cdp`, and resolves once the page has taken it. The order of calls is the order of events. */
export function dispatchInput({
  cdp,
  message,
  scale,
}: {
  cdp: CDPSession
  message: PageMessage
  /** Device pixels of the remote screen to one CSS pixel. */
  scale: number
}): Promise<unknown> {
  const calls = inputCalls(inDevicePixels(message, scale))
  // A page that navigates or closes may refuse an event: nothing that its visitor could do about it.
  return Promise.all(calls.map(([method, params]) => cdp.send(method, params).catch(() => undefined)))
}

/** The browser takes places on its screen, which is as many times larger as its pixels are smaller (device-pixels.ts). */
function inDevicePixels(message: PageMessage, scale: number): PageMessage {
  switch (message.type) {
    case 'mouse':
      return { ...message, x: message.x * scale, y: message.y * scale }
    case 'wheel': {
      const { x, y, deltaX, deltaY } = message
      return { ...message, x: x * scale, y: y * scale, deltaX: deltaX * scale, deltaY: deltaY * scale }
    }
    case 'touch':
      return { ...message, points: message.points.map(({ id, x, y }) => ({ id, x: x * scale, y: y * scale })) }
    default:
      return message
  }
}

/** What a message means to the browser; nothing for what must not reach it. */
export function inputCalls(message: PageMessage): InputCall[] {
  switch (message.type) {
    case 'mouse':
      return mouseCalls(message)
    case 'wheel':
      return [['Input.dispatchMouseEvent', { ...message, type: 'mouseWheel' }]]
    case 'touch': {
      const { action, points, modifiers } = message
      return [['Input.dispatchTouchEvent', { type: TOUCH_TYPES[action], touchPoints: points, modifiers }]]
    }
    case 'key':
      return keyCalls(message)
    case 'text':
      return [['Input.insertText', { text: message.text }]]
    case 'composition': {
      const { text } = message
      return [['Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length }]]
    }
    case 'clear':
      return [
        ['Input.dispatchKeyEvent', { type: 'rawKeyDown', ...BACKSPACE, commands: ['selectAll', 'deleteBackward'] }],
        ['Input.dispatchKeyEvent', { type: 'keyUp', ...BACKSPACE }],
      ]
    default:
      return []
  }
}

function mouseCalls({ action, clicks, ...rest }: MouseMessage): InputCall[] {
  // The middle button pastes what was selected last, whatever selected it.
  if (rest.button === 'middle') return []
  return [['Input.dispatchMouseEvent', { ...rest, type: MOUSE_TYPES[action], clickCount: clicks }]]
}

function keyCalls(message: KeyMessage): InputCall[] {
  const allowed = allowedKey(message)
  if (!allowed) return []
  const { text, ...key } = allowed
  const { action, location, repeat } = message
  const shared = { ...key, isKeypad: location === KEYPAD, ...(location === 1 || location === 2 ? { location } : {}) }
  if (action === 'up') return [['Input.dispatchKeyEvent', { type: 'keyUp', ...shared }]]
  const typed = text === undefined ? { type: 'rawKeyDown' } : { type: 'keyDown', text, unmodifiedText: text }
  return [['Input.dispatchKeyEvent', { ...typed, ...shared, autoRepeat: repeat }]]
}
