import type { RemoteField } from '../../../../wire/remote-fields.ts'
import type { FocusMessage } from '../../../../wire/stream.ts'
import { SHIFT } from '../../../../wire/stream-constants.ts'
import { find } from '../../kit/assets/dom.ts'
import { sendText } from './keyboard.ts'
import type { Send } from './pointer.ts'
import { difference } from './text-difference.ts'

const KEYBOARDS = ['none', 'text', 'decimal', 'numeric', 'tel', 'search', 'email', 'url']
const ENTER_HINTS = ['enter', 'done', 'go', 'next', 'previous', 'search', 'send']
const KEYS = { Enter: 13, Tab: 9 }

interface TypingBar {
  showFocus(focus: FocusMessage): void
  /** The remote focus may move: what is typed until it is known belongs wherever it goes. */
  expectFocus(): void
}

/**
 * The phone's way to type (docs/behaviour.md, Phones): its own keyboard cannot reach the remote browser. The bar holds what the remote
 * field holds, and each change of it is sent as a change; an unfinished composition is not. Where the remote focus holds nothing that could be
 * shown, text is sent as a whole.
 */
export function listenToTypingBar(send: Send): TypingBar {
  const form = find<HTMLFormElement>('[data-typing]')
  const text = find<HTMLInputElement>('[data-text]')
  const hide = find<HTMLInputElement>('[data-hide]')
  let field: (RemoteField & { value: string }) | undefined
  let edits = 0
  let composing = false

  const setHidden = (hidden: boolean): void => {
    hide.checked = hidden
    text.type = hidden ? 'password' : 'text'
  }
  const sendEdit = (): void => {
    if (!field || text.value === field.value) return
    const change = difference(field.value, text.value)
    send({ type: 'edit', field: field.id, number: ++edits, ...change, caret: text.selectionEnd ?? text.value.length })
    field.value = text.value
  }
  /** What has not been sent belongs before whatever comes next. */
  const flush = (): void => {
    composing = false
    if (field) sendEdit()
    else {
      sendText(send, text.value)
      text.value = ''
    }
  }
  const press = (key: keyof typeof KEYS, modifiers = 0): void => {
    flush()
    const message = { type: 'key', key, code: key, keyCode: KEYS[key], location: 0, repeat: false, modifiers } as const
    expectFocus()
    send({ ...message, action: 'down', ...(key === 'Enter' && { text: '\r' }) })
    send({ ...message, action: 'up' })
  }
  const expectFocus = (): void => {
    if (!field) return
    flush()
    field = undefined
    text.value = ''
  }
  const take = ({ field: next, edit }: FocusMessage): void => {
    if (edit !== undefined && edit < edits) return
    if (next?.value === undefined) {
      if (field) text.value = ''
      field = undefined
      return
    }
    const isSame = field?.id === next.id
    // Typed before it was known where to.
    const early = field ? '' : text.value
    if (isSame && (composing || next.value === text.value)) return
    field = { ...next, value: next.value }
    dress(text, next)
    text.value = next.value
    text.setSelectionRange(next.start, next.end)
    if (early === '') return
    text.setRangeText(early, next.start, next.end, 'end')
    sendEdit()
  }

  find('[data-previous]').addEventListener('click', () => press('Tab', SHIFT))
  find('[data-next]').addEventListener('click', () => press('Tab'))
  // A button that takes the focus would close the device's keyboard.
  for (const button of form.querySelectorAll('button')) {
    button.addEventListener('mousedown', (event) => event.preventDefault())
  }
  text.addEventListener('compositionstart', () => {
    composing = true
  })
  text.addEventListener('compositionend', () => {
    composing = false
    if (field) sendEdit()
  })
  text.addEventListener('input', () => {
    if (!composing && field) sendEdit()
  })
  text.addEventListener('keydown', (event) => {
    // What the device's key says is what the remote field makes of it.
    if (event.key !== 'Enter' || composing || !field) return
    event.preventDefault()
    press('Enter')
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    flush()
  })
  find('[data-enter]').addEventListener('click', () => press('Enter'))
  find('[data-clear]').addEventListener('click', () => {
    text.value = ''
    if (field) sendEdit()
    else send({ type: 'clear' })
  })
  hide.addEventListener('change', () => setHidden(hide.checked))
  let last = ''
  return {
    expectFocus,
    showFocus: (focus) => {
      const { editable, hidden } = focus
      form.dataset['editable'] = String(editable)
      // Once for each change, so that the visitor's own choice lasts.
      const now = `${editable}${hidden}${focus.field?.id}`
      if (editable && now !== last) setHidden(hidden)
      last = now
      take(focus)
    },
  }
}

/** The keyboard and the suggestions of the visitor's device are those that the remote field asks for. */
function dress(text: HTMLInputElement, { inputMode, autocomplete, enterKeyHint }: RemoteField): void {
  text.inputMode = KEYBOARDS.includes(inputMode) ? inputMode : ''
  text.enterKeyHint = ENTER_HINTS.includes(enterKeyHint) ? enterKeyHint : 'send'
  text.setAttribute('autocomplete', /^[a-z][a-z0-9 -]*$/.test(autocomplete) ? autocomplete : 'off')
}
