import type { KeyMessage } from '../../../../wire/stream.ts'
import { ALT, CONTROL, LONGEST_TEXT, META } from '../../../../wire/stream-constants.ts'
import { find } from '../../kit/assets/dom.ts'
import { leaveScreen } from './leave-screen.ts'
import { modifiersOf, type Send } from './pointer.ts'

/** What browsers make of the EditContext API (not in TypeScript's library yet): text input for an element that is no field. */
interface EditContextLike extends EventTarget {
  updateText(start: number, end: number, text: string): void
  updateSelection(start: number, end: number): void
  readonly text: string
}
type EditContextMaker = new () => EditContextLike

const canvas = find<HTMLCanvasElement & { editContext?: EditContextLike }>('canvas.screen')
const catcher = find<HTMLTextAreaElement>('.catcher')

/** With Ctrl or Cmd these stay with the visitor's own browser: its tabs, its zoom, its clipboard. */
const OWN_LETTERS = new Set(['c', 'v', 'x', 'r', 't', 'n', 'w', 'l', 'i', 'j', '+', '-', '=', '0'])
const OWN_KEYS = new Set(['F1', 'F3', 'F5', 'F6', 'F11', 'F12'])
const COMPOSING_KEY_CODE = 229
/** What a `code` says where the browser does not know the key's place: keyboards on screens, remote desktops (UI Events KeyboardEvent code Values, 3.3). */
const NO_PLACE = 'Unidentified'
const isMac = navigator.platform.startsWith('Mac')

/**
 * Keys, pasted text and input methods, while the screen has the focus. Where the browser knows EditContext the canvas itself takes
 * compositions; elsewhere a field that nobody sees takes the focus in its place. On a phone or a tablet neither does: it would bring up the
 * device's keyboard at every touch, and the typing bar is what that is for.
 */
export function listenToKeyboard({
  send,
  hasKeys,
  onCopy,
  enterList,
}: {
  send: Send
  /** The visitor has a keyboard that is no part of the screen. */
  hasKeys: boolean
  /** The visitor wants what is selected. */
  onCopy: () => void
  /** Into a list that is offered beside typing; false where there is none. */
  enterList: () => boolean
}): void {
  const held = new Map<string, KeyMessage>()
  const release = (): void => {
    for (const message of held.values()) send({ ...message, action: 'up', repeat: false })
    held.clear()
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.isComposing || event.keyCode === COMPOSING_KEY_CODE) return
    if (event.type === 'keydown' && takesKey(event)) {
      event.preventDefault()
      return
    }
    if (isOwn(event)) return
    const message = keyMessage(event)
    event.preventDefault()
    if (message.action === 'down') held.set(message.code, message)
    else if (!held.delete(message.code)) return
    send(message)
  }
  const takesKey = (event: KeyboardEvent): boolean => {
    if (event.key === 'ArrowDown') return enterList()
    if (event.key === 'F6') {
      leaveScreen({ backwards: event.shiftKey })
      return true
    }
    const isCopy = (isMac ? event.metaKey : event.ctrlKey) && !event.altKey && !event.shiftKey && event.key === 'c'
    if (isCopy) onCopy()
    return isCopy
  }
  for (const target of [canvas, catcher] as HTMLElement[]) {
    target.addEventListener('keydown', onKey)
    target.addEventListener('keyup', onKey)
    target.addEventListener('blur', release)
  }
  const onPaste = (event: ClipboardEvent): void => {
    const { activeElement } = document
    if (activeElement !== canvas && activeElement !== catcher) return
    event.preventDefault()
    sendText(send, event.clipboardData?.getData('text/plain') ?? '')
  }
  // Under an EditContext the event is not the canvas's but the body's.
  addEventListener('paste', onPaste, { capture: true })
  const compose = createComposition(send)
  listenToComposition(canvas, compose)
  if (!hasKeys) return
  const Maker = (globalThis as { EditContext?: EditContextMaker }).EditContext
  if (Maker) useEditContext(new Maker(), compose)
  else useCatcher(compose)
}

/** Text of any length, in messages that the service takes. */
export function sendText(send: Send, text: string): void {
  for (let start = 0; start < text.length; start += LONGEST_TEXT) {
    send({ type: 'text', text: text.slice(start, start + LONGEST_TEXT) })
  }
}

function isOwn(event: KeyboardEvent): boolean {
  if (OWN_KEYS.has(event.key)) return true
  if (event.altKey || !(event.ctrlKey || event.metaKey)) return false
  return OWN_LETTERS.has(event.key.toLowerCase()) || (event.ctrlKey && event.key === 'Tab')
}

function keyMessage(event: KeyboardEvent): KeyMessage {
  const { type, key, code, keyCode, location, repeat } = event
  const typesAltGraph = event.getModifierState('AltGraph')
  let modifiers = modifiersOf(event)
  // AltGr is Ctrl and Alt to some systems, and a shortcut of neither.
  if (typesAltGraph) modifiers &= ~(CONTROL | ALT)
  // The remote browser is a Linux one: its shortcuts are with Ctrl.
  if (isMac && (modifiers & META) !== 0) modifiers = (modifiers & ~META) | CONTROL
  const types = [...key].length === 1 && (modifiers & (CONTROL | META)) === 0 && ((modifiers & ALT) === 0 || isMac)
  const text = types ? key : key === 'Enter' ? '\r' : undefined
  return {
    type: 'key',
    action: type === 'keydown' ? 'down' : 'up',
    key,
    code: code === NO_PLACE ? '' : code,
    keyCode: Math.min(keyCode, 255),
    location,
    repeat,
    modifiers: types && isMac ? modifiers & ~ALT : modifiers,
    ...(text !== undefined && { text }),
  }
}

/** A composition shows what it has so far in the remote field, and enters it at its end. */
interface Composition {
  active: boolean
  update(text: string): void
  end(text: string): void
  /** Text that came without a composition: a dictation, an emoji picker. */
  insert(text: string): void
}

function createComposition(send: Send): Composition {
  const composition: Composition = {
    active: false,
    update: (text) => {
      composition.active = true
      send({ type: 'composition', text })
    },
    end: (text) => {
      composition.active = false
      if (text) send({ type: 'text', text })
      else send({ type: 'composition', text: '' })
    },
    insert: (text) => {
      if (!composition.active && text) sendText(send, text)
    },
  }
  return composition
}

function listenToComposition(target: EventTarget, composition: Composition): void {
  target.addEventListener('compositionupdate', (event) => composition.update((event as CompositionEvent).data))
  target.addEventListener('compositionend', (event) => composition.end((event as CompositionEvent).data))
}

function useEditContext(context: EditContextLike, composition: Composition): void {
  const clear = (): void => {
    context.updateText(0, context.text.length, '')
    context.updateSelection(0, 0)
  }
  let composed = ''
  context.addEventListener('compositionstart', () => {
    composed = ''
    composition.active = true
  })
  context.addEventListener('textupdate', (event) => {
    const { text } = event as Event & { text: string }
    if (!composition.active) {
      composition.insert(text)
      return clear()
    }
    composed = text
    composition.update(text)
  })
  context.addEventListener('compositionend', () => {
    composition.end(composed)
    clear()
  })
  canvas.editContext = context
}

function useCatcher(composition: Composition): void {
  canvas.addEventListener('focus', () => catcher.focus({ preventScroll: true }))
  listenToComposition(catcher, composition)
  catcher.addEventListener('input', (event) => {
    const { isComposing, data, inputType } = event as InputEvent
    if (!isComposing && inputType !== 'insertCompositionText') composition.insert(data ?? '')
    if (!isComposing) catcher.value = ''
  })
}
