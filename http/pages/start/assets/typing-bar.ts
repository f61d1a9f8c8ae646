import { find } from '../../kit/assets/dom.ts'
import { sendText } from './keyboard.ts'
import type { Send } from './pointer.ts'

/** The phone's way to type (docs/behaviour.md, Phones): its own keyboard cannot reach the remote browser. */
export function listenToTypingBar(send: Send): { showFocus(focus: { editable: boolean; hidden: boolean }): void } {
  const form = find<HTMLFormElement>('[data-typing]')
  const text = find<HTMLInputElement>('[data-text]')
  const hide = find<HTMLInputElement>('[data-hide]')
  const setHidden = (hidden: boolean): void => {
    hide.checked = hidden
    text.type = hidden ? 'password' : 'text'
  }
  // A button that takes the focus would close the device's keyboard.
  for (const button of form.querySelectorAll('button')) {
    button.addEventListener('mousedown', (event) => event.preventDefault())
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    sendText(send, text.value)
    text.value = ''
  })
  find('[data-enter]').addEventListener('click', () => {
    const key = {
      type: 'key',
      key: 'Enter',
      code: 'Enter',
      keyCode: 13,
      location: 0,
      repeat: false,
      modifiers: 0,
    } as const
    // What was typed and not sent yet belongs before it.
    sendText(send, text.value)
    text.value = ''
    send({ ...key, action: 'down', text: '\r' })
    send({ ...key, action: 'up' })
  })
  find('[data-clear]').addEventListener('click', () => {
    text.value = ''
    send({ type: 'clear' })
  })
  hide.addEventListener('change', () => setHidden(hide.checked))
  let last = ''
  return {
    showFocus: ({ editable, hidden }) => {
      form.dataset['editable'] = String(editable)
      // Once for each change, so that the visitor's own choice lasts.
      const now = `${editable}${hidden}`
      if (editable && now !== last) setHidden(hidden)
      last = now
    },
  }
}
