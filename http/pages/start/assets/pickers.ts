import type { RemotePicker } from '../../../../wire/remote-fields.ts'
import { find } from '../../kit/assets/dom.ts'
import { make } from './element.ts'
import { listOf } from './option-list.ts'
import type { Send } from './pointer.ts'
import { PLACED, placeAt } from './screen-view.ts'
import { texts } from './texts.ts'

const stage = find('.stage')
const canvas = find<HTMLCanvasElement>('canvas.screen')

/** What a browser draws over a page for its fields, drawn over the picture at the field's place. */
interface Pickers {
  show(picker: RemotePicker | undefined): void
  /** Into a list that is offered beside typing; false where there is none. */
  enter(): boolean
}

export function createPickers(send: Send): Pickers {
  let panel: HTMLElement | undefined
  let shown: RemotePicker | undefined
  const close = ({ refocus }: { refocus: boolean }): void => {
    const hadFocus = panel?.contains(document.activeElement)
    panel?.remove()
    panel = undefined
    shown = undefined
    if (refocus && hadFocus) canvas.focus({ preventScroll: true })
  }
  const leave = (): void => close({ refocus: true })
  const open = (picker: RemotePicker): void => {
    const isList = picker.kind === 'select' || picker.kind === 'suggestions'
    const choose = (indexes: number[]): void => send({ type: 'pick', id: picker.id, indexes })
    const content = isList ? [listOf({ picker, choose, leave })] : [valueForm({ picker, send, leave })]
    if (picker.kind === 'select' && picker.multiple) content.push(doneButton(leave))
    panel = make('div', { class: 'picker' }, ...content)
    stage.append(panel)
    placeAt(panel, picker.rectangle)
    if (picker.kind !== 'suggestions') panel.querySelector<HTMLElement>('[tabindex="0"], input')?.focus()
  }
  addEventListener(
    'pointerdown',
    ({ target }) => {
      if (panel && !panel.contains(target as Node)) close({ refocus: false })
    },
    { capture: true },
  )
  const place = (): void => {
    if (panel && shown) placeAt(panel, shown.rectangle)
  }
  // A list stays open where a device's keyboard goes as it comes, and where its field is brought in sight.
  canvas.addEventListener(PLACED, place)
  return {
    show: (picker) => {
      // The list that is open is told again when the page below it changes, and when that has another size.
      if (picker && shown && picker.id === shown.id && picker.kind !== 'suggestions') {
        shown = picker
        return place()
      }
      close({ refocus: picker === undefined })
      if (!picker) return
      open(picker)
      shown = picker
    },
    enter: () => {
      const option = shown?.kind === 'suggestions' && panel?.querySelector<HTMLElement>('[tabindex="0"]')
      if (!option) return false
      option.focus()
      return true
    },
  }
}

function doneButton(leave: () => void): HTMLElement {
  const done = make('button', { type: 'button', class: 'button' }, texts.remote.done)
  done.addEventListener('click', leave)
  return done
}

/** A date, a time or a colour: the visitor's own browser has a picker for it. */
function valueForm({ picker, send, leave }: { picker: RemotePicker; send: Send; leave: () => void }): HTMLElement {
  const { id, kind, label, value } = picker
  const input = make('input', { type: kind, 'aria-label': label || texts.remote.choose })
  for (const bound of ['min', 'max', 'step'] as const) if (picker[bound]) input.setAttribute(bound, picker[bound])
  input.value = value
  const cancel = make('button', { type: 'button' }, texts.remote.cancel)
  const form = make(
    'form',
    { class: 'picker-form', role: 'group', 'aria-label': label || texts.remote.choose },
    input,
    make('button', { type: 'submit', class: 'button' }, texts.remote.ok),
    cancel,
  )
  form.noValidate = true
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send({ type: 'pick', id, value: input.value })
    leave()
  })
  cancel.addEventListener('click', leave)
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') leave()
  })
  return form
}
