import type { PageMessage } from '../../../../wire/stream.ts'
import { ALT, CONTROL, META, SHIFT } from '../../../../wire/stream-constants.ts'
import { find } from '../../kit/assets/dom.ts'
import { createPinch } from './pinch.ts'
import { remotePoint } from './screen.ts'
import { letGo } from './screen-view.ts'

export type Send = (message: PageMessage) => void

type Modified = Pick<MouseEvent, 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>

export const modifiersOf = (event: Modified): number =>
  (event.altKey ? ALT : 0) + (event.ctrlKey ? CONTROL : 0) + (event.metaKey ? META : 0) + (event.shiftKey ? SHIFT : 0)

const BUTTONS = ['left', 'middle', 'right'] as const
const LINE_PX = 16
const PAGE_PX = 400

const canvas = find<HTMLCanvasElement>('canvas.screen')

/** Sends at most one message of a kind for each picture that this screen shows: more would only queue up. */
function perPicture(send: Send): { offer(message: PageMessage): void; flush(next: PageMessage): void } {
  let waiting: PageMessage | undefined
  let asked = 0
  const sendWaiting = (): void => {
    cancelAnimationFrame(asked)
    asked = 0
    if (waiting) send(waiting)
    waiting = undefined
  }
  return {
    offer: (message) => {
      waiting = add(waiting, message)
      asked ||= requestAnimationFrame(sendWaiting)
    },
    flush: (next) => {
      sendWaiting()
      send(next)
    },
  }
}

/** A move replaces the one before; turns of a wheel add up. */
const add = (before: PageMessage | undefined, message: PageMessage): PageMessage =>
  before?.type === 'wheel' && message.type === 'wheel'
    ? { ...message, deltaX: before.deltaX + message.deltaX, deltaY: before.deltaY + message.deltaY }
    : message

export function listenToMouse(send: Send): void {
  const moves = perPicture(send)
  const wheels = perPicture(send)
  const tellInTurn = (action: string, message: PageMessage): void => {
    if (action === 'move') moves.offer(message)
    else moves.flush(message)
  }
  const tell = (action: 'move' | 'down' | 'up', event: MouseEvent): void => {
    const button = action === 'move' ? 'none' : (BUTTONS[event.button] ?? 'none')
    const { buttons, detail } = event
    const clicks = action === 'move' ? 0 : Math.min(Math.max(detail, 1), 3)
    const message = { type: 'mouse', action, button, buttons, clicks, modifiers: modifiersOf(event) } as const
    tellInTurn(action, { ...message, ...remotePoint(event) })
  }
  let pressed = false
  canvas.addEventListener('mousedown', (event) => {
    event.preventDefault()
    canvas.focus({ preventScroll: true })
    pressed = true
    tell('down', event)
  })
  // A drag that leaves the canvas goes on until the button is let go.
  addEventListener('mousemove', (event) => {
    if (pressed || event.target === canvas) tell('move', event)
  })
  addEventListener('mouseup', (event) => {
    if (pressed) tell('up', event)
    pressed = event.buttons !== 0 && pressed
  })
  canvas.addEventListener('contextmenu', (event) => event.preventDefault())
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault()
      const unit = [1, LINE_PX, PAGE_PX][event.deltaMode] ?? 1
      const { deltaX, deltaY } = event
      const point = remotePoint(event)
      const modifiers = modifiersOf(event)
      wheels.offer({ type: 'wheel', ...point, deltaX: deltaX * unit, deltaY: deltaY * unit, modifiers })
    },
    { passive: false },
  )
}

const TOUCHES = { touchstart: 'start', touchmove: 'move', touchend: 'end', touchcancel: 'cancel' } as const

/** Fingers go as fingers to a remote phone, and as a mouse to a remote desktop. */
export function listenToTouch({ send, isPhone }: { send: Send; isPhone: () => boolean }): void {
  const asTouch = createTouch(send)
  const asMouse = createTouchMouse(send)
  const takes = createPinch()
  let isOurs = false
  const onTouch = (event: TouchEvent): void => {
    event.preventDefault()
    const action = TOUCHES[event.type as keyof typeof TOUCHES]
    if (action === 'start') canvas.focus({ preventScroll: true })
    const pass = isPhone() ? asTouch : asMouse
    if (!takes(event)) {
      isOurs = false
      if (action === 'move') letGo()
      pass(action, event)
      return
    }
    // What the remote page has seen of it so far is taken back.
    if (!isOurs) pass('cancel', event)
    isOurs = true
  }
  for (const type of Object.keys(TOUCHES)) {
    canvas.addEventListener(type, (event) => onTouch(event as TouchEvent), { passive: false })
  }
}

type TouchAction = (typeof TOUCHES)[keyof typeof TOUCHES]
type TouchListener = (action: TouchAction, event: TouchEvent) => void

function createTouch(send: Send): TouchListener {
  const moves = perPicture(send)
  return (action, event) => {
    const fingers = action === 'cancel' ? [] : [...event.targetTouches]
    const points = fingers.map((touch) => ({ id: touch.identifier, ...remotePoint(touch) }))
    const message = { type: 'touch', action, points, modifiers: modifiersOf(event) } as const
    if (action === 'move') moves.offer(message)
    else moves.flush(message)
  }
}

/** Farther than this (CSS pixels of the remote screen) a finger drags; until then it taps. */
const DRAG_PX = 8

function createTouchMouse(send: Send): TouchListener {
  let from: { x: number; y: number } | undefined
  let dragging = false
  return (action, event) => {
    const [finger] = event.changedTouches
    if (action === 'cancel') from = undefined
    if (!finger) return
    const point = remotePoint(finger)
    const modifiers = modifiersOf(event)
    if (action === 'start') {
      from = event.targetTouches.length === 1 ? point : undefined
      dragging = false
    } else if (action === 'move' && from) {
      const deltaX = from.x - point.x
      const deltaY = from.y - point.y
      dragging ||= Math.hypot(deltaX, deltaY) > DRAG_PX
      if (!dragging) return
      send({ type: 'wheel', ...point, deltaX, deltaY, modifiers })
      from = point
    } else if (action === 'end' && from && !dragging) {
      const click = { type: 'mouse', ...point, button: 'left', clicks: 1, modifiers } as const
      send({ ...click, action: 'move', button: 'none', buttons: 0, clicks: 0 })
      send({ ...click, action: 'down', buttons: 1 })
      send({ ...click, action: 'up', buttons: 0 })
    }
  }
}
