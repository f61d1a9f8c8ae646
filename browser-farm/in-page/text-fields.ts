import type { createPlaces } from './places.ts'

type TextField = HTMLInputElement | HTMLTextAreaElement

/** Runs in the page (in-page/source.ts): what its text fields hold, and changes to that. */
export function createTextFields({ focusedElement, nameOf, rectangleOf }: ReturnType<typeof createPlaces>) {
  const NO_TEXT = ['button', 'checkbox', 'color', 'file', 'hidden', 'image', 'radio', 'range', 'reset', 'submit']
  const NO_TEXT_EITHER = ['date', 'time', 'datetime-local', 'month', 'week']
  const KEYBOARDS: Record<string, string> = {
    email: 'email',
    tel: 'tel',
    url: 'url',
    search: 'search',
    number: 'decimal',
  }
  const LONGEST_TEXT_VALUE = 10_000

  const isTextField = (element: Element | null): element is TextField =>
    element instanceof HTMLTextAreaElement || (element instanceof HTMLInputElement && !NO_TEXT.includes(element.type))

  /** What has the focus, and what the typing bar needs to know of it; null where it is not in this frame. */
  function describeFocus(): { editable: boolean; hidden: boolean; element: object; field?: object } | null {
    const focused = focusedElement()
    if (!focused) return null
    const element = { id: nameOf(focused), rectangle: rectangleOf(focused) }
    if (isTextField(focused)) {
      return { editable: true, hidden: focused.type === 'password', element, field: describe(focused) }
    }
    if (focused instanceof HTMLElement && focused.isContentEditable) {
      const field = { ...describeElement(focused), hidden: false, start: 0, end: 0 }
      return { editable: true, hidden: false, element, field }
    }
    // It has the focus where nothing else has it.
    return focused === document.body ? null : { editable: false, hidden: false, element }
  }

  function describe(field: TextField): object {
    const value = field.value.slice(0, LONGEST_TEXT_VALUE)
    return {
      ...describeElement(field),
      hidden: field.type === 'password',
      // The parts of a date are no text that could be changed in the middle.
      ...(!NO_TEXT_EITHER.includes(field.type) && !field.readOnly && { value }),
      // Inputs for e-mail addresses and numbers do not tell.
      start: Math.min(field.selectionStart ?? value.length, value.length),
      end: Math.min(field.selectionEnd ?? value.length, value.length),
    }
  }

  function describeElement(element: HTMLElement): object {
    return {
      id: nameOf(element),
      inputMode: (element.inputMode || KEYBOARDS[(element as Partial<TextField>).type ?? ''] || '').slice(0, 20),
      autocomplete: (element.getAttribute('autocomplete') ?? '').slice(0, 60),
      enterKeyHint: element.enterKeyHint.slice(0, 20),
    }
  }

  /**
   * Puts text in the place of a part of what the focused field holds, as typing does: the page sees real input events. Text that was meant
   * for a field that has lost the focus to the next one goes there, as the next key would.
   */
  function editField(field: string, start: number, end: number, text: string, caret: number): void {
    const element = focusedElement()
    if (!isTextField(element)) return
    if (nameOf(element) !== field) {
      if (start === end) document.execCommand('insertText', false, text)
      return
    }
    const { value } = element
    if (element.selectionStart === null) {
      const next = value.slice(0, start) + text + value.slice(end)
      element.select()
      enter(next)
      return
    }
    element.setSelectionRange(start, end)
    if (text !== '' || start !== end) enter(text)
    // A page that writes the value anew has its own idea of where the caret belongs.
    if (focusedElement() === element && element.value === value.slice(0, start) + text + value.slice(end)) {
      element.setSelectionRange(caret, caret)
    }
  }

  function enter(text: string): void {
    if (text === '') document.execCommand('delete')
    else document.execCommand('insertText', false, text)
  }

  /** What is selected, but for fields that hide what they hold. */
  function selectedText(): string {
    const element = focusedElement()
    if (isTextField(element)) {
      if (element.type === 'password') return ''
      return element.value.slice(element.selectionStart ?? 0, element.selectionEnd ?? 0).slice(0, LONGEST_TEXT_VALUE)
    }
    return String(getSelection() ?? '').slice(0, LONGEST_TEXT_VALUE)
  }

  return { describeFocus, editField, selectedText }
}
