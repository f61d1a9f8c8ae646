import type { RemotePicker } from '../../../../wire/remote-fields.ts'
import { make } from './element.ts'
import { texts } from './texts.ts'

/** Letters that follow one another faster than this (ms) are the beginning of one entry. */
const TYPING_MS = 700

/** The entries of a list by mouse, finger and keyboard (WAI-ARIA Authoring Practices, Listbox). */
export function listOf({
  picker,
  choose,
  leave,
}: {
  picker: RemotePicker
  choose: (indexes: number[]) => void
  leave: () => void
}): HTMLElement {
  const { options, multiple, kind } = picker
  const list = make('div', { role: 'listbox', class: 'options', 'aria-label': picker.label || texts.remote.choose })
  if (multiple) list.setAttribute('aria-multiselectable', 'true')
  const entries = options.map(({ label, disabled, selected }): HTMLElement => {
    const entry = make('div', { role: 'option', class: 'option', 'aria-selected': String(selected) }, label || '\u00a0')
    entry.tabIndex = -1
    if (disabled) entry.setAttribute('aria-disabled', 'true')
    return entry
  })
  addGrouped({ list, entries, picker })
  const enabled = entries.filter((_entry, index) => !options[index]?.disabled)
  const first = enabled.find((entry) => entry.ariaSelected === 'true') ?? enabled[0]
  if (first) first.tabIndex = 0

  const take = (entry: HTMLElement): void => {
    if (!enabled.includes(entry)) return
    if (!multiple || kind === 'suggestions') {
      choose([entries.indexOf(entry)])
      leave()
      return
    }
    entry.setAttribute('aria-selected', String(entry.ariaSelected !== 'true'))
    choose(entries.flatMap(({ ariaSelected }, index) => (ariaSelected === 'true' ? [index] : [])))
  }
  const go = (entry: HTMLElement | undefined): void => {
    if (!entry) return
    for (const each of entries) each.tabIndex = -1
    entry.tabIndex = 0
    entry.focus()
    entry.scrollIntoView({ block: 'nearest' })
  }
  const find = createTypeahead(enabled)
  list.addEventListener('click', ({ target }) => {
    const entry = (target as Element).closest<HTMLElement>('[role="option"]')
    if (entry) take(entry)
  })
  list.addEventListener('keydown', (event) => {
    const at = enabled.indexOf(document.activeElement as HTMLElement)
    const last = enabled.length - 1
    const moves: Record<string, number> = {
      ArrowDown: Math.min(at + 1, last),
      ArrowUp: Math.max(at - 1, 0),
      Home: 0,
      End: last,
    }
    const target = moves[event.key]
    if (target !== undefined) go(enabled[target])
    else if (event.key === 'Escape' || event.key === 'Tab') leave()
    else if (event.key === 'Enter' || event.key === ' ') take(document.activeElement as HTMLElement)
    else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) go(find(event))
    else return
    event.preventDefault()
  })
  return list
}

function addGrouped({ list, entries, picker }: { list: Element; entries: HTMLElement[]; picker: RemotePicker }): void {
  let group: { name: string; element: HTMLElement } | undefined
  for (const [index, entry] of entries.entries()) {
    const name = picker.options[index]?.group
    if (name === undefined) {
      group = undefined
      list.append(entry)
      continue
    }
    if (group?.name !== name) {
      const heading = make('div', { class: 'option-group', 'aria-hidden': 'true' }, name)
      group = { name, element: make('div', { role: 'group', 'aria-label': name }, heading) }
      list.append(group.element)
    }
    group.element.append(entry)
  }
}

/** Finds the entry that begins with the letters typed so far. */
function createTypeahead(entries: HTMLElement[]): (event: KeyboardEvent) => HTMLElement | undefined {
  let typed = ''
  let typedAt = 0
  return ({ key, timeStamp }) => {
    typed = timeStamp - typedAt < TYPING_MS ? typed + key.toLowerCase() : key.toLowerCase()
    typedAt = timeStamp
    return entries.find(({ textContent }) => textContent.toLowerCase().startsWith(typed))
  }
}
