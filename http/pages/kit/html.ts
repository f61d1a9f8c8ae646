/** Markup that is safe to send as it is. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Markup | false | undefined | Value[]

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')

function render(value: Value): string {
  if (value === undefined || value === false) return ''
  if (Array.isArray(value)) return value.map(render).join('')
  return value instanceof Markup ? value.text : escapeText(String(value))
}

/** A template tag: whatever is filled in is escaped, unless it is markup itself; `undefined` and `false` are nothing. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Markup {
  return new Markup(
    strings.reduce((text, part, index) => text + part + (index < values.length ? render(values[index]) : ''), ''),
  )
}
