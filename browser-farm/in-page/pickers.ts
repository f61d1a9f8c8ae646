import type { createPlaces } from './places.ts'

type Picked = HTMLSelectElement | HTMLInputElement

/** Runs in the page (in-page/source.ts): the fields for which a browser draws something over the page, which no picture has. */
export function createPickers({ elementNamed, nameOf, rectangleOf }: ReturnType<typeof createPlaces>) {
  const PICKED_TYPES = ['date', 'time', 'datetime-local', 'month', 'week', 'color']
  const MOST_ENTRIES = 1_000
  const LONGEST_ENTRY = 200

  const short = (text: string): string => text.trim().replace(/\s+/g, ' ').slice(0, LONGEST_ENTRY)

  function isOff(option: HTMLOptionElement): boolean {
    return option.disabled || (option.parentElement instanceof HTMLOptGroupElement && option.parentElement.disabled)
  }

  /** The options of a datalist that fit what was typed, as browsers offer them. */
  function suggestions(input: HTMLInputElement): HTMLOptionElement[] {
    const typed = input.value.toLowerCase()
    return [...(input.list?.options ?? [])].filter(
      ({ value, label, disabled }) =>
        !disabled && value !== input.value && `${value}\n${label}`.toLowerCase().includes(typed),
    )
  }

  const optionsOf = (element: Picked): HTMLOptionElement[] =>
    (element instanceof HTMLSelectElement ? [...element.options] : suggestions(element)).slice(0, MOST_ENTRIES)

  function kindOf(element: Element): string | null {
    if (element instanceof HTMLSelectElement) return element.disabled ? null : 'select'
    if (!(element instanceof HTMLInputElement) || element.disabled || element.readOnly) return null
    if (PICKED_TYPES.includes(element.type)) return element.type
    return element.list ? 'suggestions' : null
  }

  /** What is to be drawn for a field; null for a field that needs nothing. */
  function describePicker(element: Element): object | null {
    const kind = kindOf(element)
    if (kind === null) return null
    const field = element as Picked
    const input = field instanceof HTMLInputElement ? field : undefined
    return {
      id: nameOf(field),
      kind,
      label: short(field.labels?.[0]?.textContent || field.ariaLabel || ''),
      rectangle: rectangleOf(field),
      multiple: field.multiple,
      options: optionsOf(field).map((option) => {
        const group = option.parentElement instanceof HTMLOptGroupElement ? option.parentElement.label : ''
        const selected = kind === 'select' && option.selected
        const label = short(option.label || option.text || option.value)
        return { label, disabled: isOff(option), selected, ...(group && { group: short(group) }) }
      }),
      value: (input?.value ?? '').slice(0, LONGEST_ENTRY),
      min: (input?.min ?? '').slice(0, LONGEST_ENTRY),
      max: (input?.max ?? '').slice(0, LONGEST_ENTRY),
      step: (input?.step ?? '').slice(0, LONGEST_ENTRY),
    }
  }

  /** Does what was chosen, if the field still offers it. */
  function pick(name: string, indexes: number[] | null, value: string | null): void {
    const element = elementNamed(name)
    if (!element) return
    const kind = kindOf(element)
    if (element instanceof HTMLSelectElement) {
      if (indexes && kind === 'select') choose(element, indexes)
    } else if (element instanceof HTMLInputElement) {
      const option = optionsOf(element)[indexes?.[0] ?? -1]
      if (kind === 'suggestions' && option) suggest(element, option.value)
      else if (PICKED_TYPES.includes(kind ?? '') && value !== null) setValue(element, value)
    }
  }

  function choose(select: HTMLSelectElement, indexes: number[]): void {
    const options = [...select.options]
    const before = options.map(({ selected }) => selected)
    if (select.multiple) {
      for (const [index, option] of options.entries()) if (!isOff(option)) option.selected = indexes.includes(index)
    } else {
      const option = options[indexes[0] ?? -1]
      if (option && !isOff(option)) option.selected = true
    }
    if (options.some(({ selected }, index) => selected !== before[index])) tellChange(select)
  }

  function suggest(input: HTMLInputElement, value: string): void {
    input.focus()
    input.select()
    document.execCommand('insertText', false, value)
  }

  function setValue(input: HTMLInputElement, value: string): void {
    const before = input.value
    input.value = value
    if (input.value !== before) tellChange(input)
  }

  function tellChange(element: Element): void {
    element.dispatchEvent(new Event('input', { bubbles: true, composed: true }))
    element.dispatchEvent(new Event('change', { bubbles: true }))
  }

  return { describePicker, pick }
}
