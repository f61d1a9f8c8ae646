import type { createPickers } from './pickers.ts'
import type { createPlaces } from './places.ts'
import type { createTextFields } from './text-fields.ts'

/** What the farm calls in the page's isolated world. */
export interface InPage extends ReturnType<typeof createTextFields> {
  pick: ReturnType<typeof createPickers>['pick']
  reveal(): void
  /** Whether what is typed goes to this frame, as far as it knows. */
  hasFocus(): boolean
  /** Tells what is open once more: it may have moved. */
  tellPicker(): void
}

/** What a page's isolated world tells the farm. */
type Told = { type: 'focus' } | { type: 'picker'; picker: object | null }

interface World {
  farmTools?: InPage
  /** Only this world has it: a page cannot tell the farm anything. */
  tellFarm?: (text: string) => void
}

/** Runs in the page (in-page/source.ts), before its own scripts: what a browser would draw over the page is told to the farm instead. */
export function watchFields({
  places: { elementNamed, focusedElement },
  textFields,
  pickers: { describePicker, pick },
}: {
  places: ReturnType<typeof createPlaces>
  textFields: ReturnType<typeof createTextFields>
  pickers: ReturnType<typeof createPickers>
}): void {
  const world = globalThis as World
  let shown: Element | null = null
  const tell = (told: Told): void => world.tellFarm?.(JSON.stringify(told))
  const open = (element: Element): void => {
    const picker = describePicker(element) as { kind: string; options: unknown[] } | null
    const isEmpty = picker?.kind === 'suggestions' && picker.options.length === 0
    if (!picker || isEmpty) {
      close()
      return
    }
    shown = element
    tell({ type: 'picker', picker })
  }
  const close = (): void => {
    if (shown) tell({ type: 'picker', picker: null })
    shown = null
  }
  const fieldOf = (event: Event): Element | null => {
    const [target] = event.composedPath()
    if (target instanceof HTMLOptionElement) return target.closest('select')
    return target instanceof HTMLSelectElement || target instanceof HTMLInputElement ? target : null
  }
  const isText = (element: Element): boolean => element instanceof HTMLInputElement && element.list !== null
  const listen = (type: string, listener: (event: Event, element: Element | null) => void): void =>
    addEventListener(type, (event) => listener(event, fieldOf(event)), { capture: true })

  listen('mousedown', (event, element) => {
    if (shown && element !== shown) close()
    if (!(element instanceof HTMLSelectElement) || element.disabled || (event as MouseEvent).button !== 0) return
    event.preventDefault()
    element.focus({ preventScroll: true })
    open(element)
  })
  listen('click', (event, element) => {
    if (!element || element instanceof HTMLSelectElement || !describePicker(element)) return
    if (!isText(element)) event.preventDefault()
    open(element)
  })
  listen('keydown', (event, element) => {
    const { key } = event as KeyboardEvent
    if (!element || isText(element) || !describePicker(element)) return
    // In a field for a date Enter is for the form.
    if (key !== ' ' && (key !== 'Enter' || !(element instanceof HTMLSelectElement))) return
    event.preventDefault()
    open(element)
  })
  listen('input', (_event, element) => {
    if (element && isText(element) && element === focusedElement()) open(element)
  })
  listen('focusin', () => tell({ type: 'focus' }))
  listen('focusout', (_event, element) => {
    tell({ type: 'focus' })
    if (element === shown) close()
  })
  // A long text in a field scrolls within it.
  addEventListener('scroll', ({ target }) => target !== shown && (target as Node).contains(shown) && close(), {
    capture: true,
    passive: true,
  })
  // What has the focus may be elsewhere now.
  addEventListener('scrollend', () => tell({ type: 'focus' }), { capture: true, passive: true })
  addEventListener('pagehide', close)
  world.farmTools = {
    ...textFields,
    pick: (name, indexes, value) => {
      if (elementNamed(name) === shown) shown = null
      pick(name, indexes, value)
    },
    hasFocus: () => focusedElement() !== null,
    tellPicker: () => {
      if (shown) open(shown)
    },
    reveal: () => focusedElement()?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
  }
}
