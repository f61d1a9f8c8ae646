/** Runs in the page (in-page/source.ts): names for elements, and where they are. */
export function createPlaces() {
  /** Elements that the farm was told of, by the names that it knows them by. */
  const named = new Map<string, WeakRef<Element>>()
  const names = new WeakMap<Element, string>()

  function nameOf(element: Element): string {
    const known = names.get(element)
    if (known !== undefined) return known
    const name = Math.random().toString(36).slice(2)
    names.set(element, name)
    named.set(name, new WeakRef(element))
    return name
  }

  function elementNamed(name: string): Element | null {
    const element = named.get(name)?.deref()
    return element?.isConnected ? element : null
  }

  /** The element with the focus, whatever shadow roots it is in; null where it is in another frame, or nowhere. */
  function focusedElement(): Element | null {
    if (!document.hasFocus()) return null
    let element = document.activeElement
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    return element instanceof HTMLIFrameElement ? null : element
  }

  /** Where an element lies in its frame. */
  function rectangleOf(element: Element): { x: number; y: number; width: number; height: number } {
    const { x, y, width, height } = element.getBoundingClientRect()
    return { x, y, width, height }
  }

  return { nameOf, elementNamed, focusedElement, rectangleOf }
}
