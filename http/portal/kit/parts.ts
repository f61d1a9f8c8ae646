import { formToken } from '../../access/member.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import type { Exchange } from './visit.ts'

/** The name of the hidden field that every form of a visit carries. */
export const FORM_TOKEN = 'formToken'

export type Content = Markup | string | number | false | undefined

/** What went wrong with a form, to which its wrong field points. */
export const ALERT_ID = 'problem'

/** A field that nobody sees. */
export const hidden = (name: string, value: string): Markup =>
  html`<input type="hidden" name="${name}" value="${value}">`

/** A form of this visit: `get` leads to a page that asks, `post` does something. */
export const form = (
  { visit, runtime }: Pick<Exchange, 'visit' | 'runtime'>,
  { action, method = 'post', className }: { action: string; method?: 'get' | 'post'; className?: string },
  content: Content | Content[],
): Markup => html`<form method="${method}" action="${action}"${className !== undefined && html` class="${className}"`}>
${method === 'post' && hidden(FORM_TOKEN, formToken(visit, runtime))}${content}
</form>`

/** A form that is one button. */
export const buttonForm = (
  exchange: Pick<Exchange, 'visit' | 'runtime'>,
  {
    action,
    method = 'post',
    label,
    kind = 'plain',
    describedBy,
  }: { action: string; method?: 'get' | 'post'; label: string; kind?: ButtonKind; describedBy?: string | undefined },
): Markup =>
  form(
    exchange,
    { action, method, className: 'inline' },
    html`<button class="button ${kind}"${describedBy !== undefined && html` title="${label}: ${describedBy}"`}>${label}</button>`,
  )

type ButtonKind = 'primary' | 'plain' | 'danger' | 'small' | 'danger small'

/** A labelled field. One that is `invalid` is where the person goes on; what is wrong with it stands above the form. */
export const field = ({
  label,
  name,
  value = '',
  type = 'text',
  hint,
  required = false,
  autocomplete = 'off',
  placeholder,
  maxLength = 2_048,
  invalid = false,
}: {
  label: string
  name: string
  value?: string | undefined
  type?: string
  hint?: Content
  required?: boolean
  invalid?: boolean
  autocomplete?: string
  placeholder?: string
  maxLength?: number
}): Markup => html`<div class="field"><label for="field-${name}">${label}</label>
<input id="field-${name}" name="${name}" type="${type}" value="${value}" maxlength="${maxLength}" autocomplete="${autocomplete}"${
  required && html` required`
}${placeholder !== undefined && html` placeholder="${placeholder}"`}${
  (hint || invalid) &&
  html` aria-describedby="${[invalid && ALERT_ID, hint && `hint-${name}`].filter(Boolean).join(' ')}"`
}${invalid && html` aria-invalid="true" autofocus`}${type === 'text' && html` dir="auto"`} spellcheck="false">
${hint && html`<p class="hint" id="hint-${name}">${hint}</p>`}</div>`

export const select = ({
  label,
  name,
  value,
  options,
  hideLabel = false,
  id = name,
}: {
  label: string
  name: string
  value?: string | undefined
  options: { value: string; label: string }[]
  hideLabel?: boolean
  id?: string
}): Markup => html`<div class="field"><label for="field-${id}"${hideLabel && html` class="unseen"`}>${label}</label>
<select id="field-${id}" name="${name}">${options.map(
  (each) => html`<option value="${each.value}"${each.value === value && html` selected`}>${each.label}</option>`,
)}</select></div>`

/** What a list says that has nothing in it, and what to do next. */
export const emptyState = ({ title, text, action }: { title: string; text: Content; action?: Content }): Markup =>
  html`<div class="empty"><h3>${title}</h3><p>${text}</p>${action}</div>`

export const card = (
  { title, text, id, aside }: { title: string; text?: Content; id?: string; aside?: Content },
  content: Content | Content[],
): Markup => html`<section class="card"${id !== undefined && html` id="${id}"`}>
<div class="card-head"><div><h2>${title}</h2>${text && html`<p class="soft">${text}</p>`}</div>${aside}</div>
${content}
</section>`

/** A word of state. */
export const pill = (text: string, tone: 'good' | 'bad' | 'warn' | 'calm' = 'calm'): Markup =>
  html`<span class="pill ${tone}">${text}</span>`

const dateTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** A moment in UTC; the page's script shows it in the reader's own time zone. */
export const moment = (at: Date): Markup => html`<time datetime="${at.toISOString()}">${dateTime.format(at)} UTC</time>`

export const number = (value: number): string => value.toLocaleString('en')

export const counted = (value: number, noun: string, plural = `${noun}s`): string =>
  `${number(value)} ${value === 1 ? noun : plural}`
