/** Makes an element with attributes and content; text is never read as markup. */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value)
  element.append(...content)
  return element
}
