/** The element that a page must have; throws where it has not. */
export function find<E extends Element = HTMLElement>(selector: string): E {
  const element = document.querySelector<E>(selector)
  if (!element) throw new Error(`no ${selector}`)
  return element
}
