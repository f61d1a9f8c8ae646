import type { FarmMessage, Notice, PageState, StateMessage } from '../../../../wire/stream.ts'
import { find } from '../../kit/assets/dom.ts'
import { names, texts } from './texts.ts'

const main = find('main.start')
const { redirect } = main.dataset

const NOTICE_MS = 8_000

const status = find('[data-state]')
const canvas = find<HTMLCanvasElement>('canvas.screen')
const title = find('[data-cover-title]')
const text = find('[data-cover-text]')
const alert = find('[data-alert]')
const sign = find('.sign')
const notice = find('[data-notice]')
const link = find<HTMLAnchorElement>('[data-return]')
const cancel = find('[data-cancel]')

/** What the page shows: a state with what the service says of it, or what only the page itself knows. */
export type Shown = Omit<StateMessage, 'type' | 'reason'> & {
  reason?: StateMessage['reason'] | keyof typeof texts.waits | 'other_flow'
  /** The service's own words, in the visitor's language. */
  message?: string | undefined
  onContinue?: () => void
  /** What is typed meanwhile is kept and sent later, so the screen keeps the focus. */
  keepsInput?: boolean
}

interface Words {
  title: string
  text: string
}

function wordsOf({ state, reason, queue, message }: Shown): Words {
  const { title, text } = texts.states[state]
  const own: Words = { title, text: message ?? text(names) }
  if (reason === undefined) return own
  if (reason === 'queue')
    return { ...texts.waits.queue, text: texts.waits.queue.text(names, queue?.place ?? 1, queue?.minutes) }
  if (reason in texts.waits) return said(texts.waits[reason as Exclude<keyof typeof texts.waits, 'queue'>])
  if (state === 'waiting') return said(texts.waits.trouble)
  const end = texts.ends[reason as keyof typeof texts.ends] as (typeof texts.ends)[keyof typeof texts.ends] | undefined
  return end ? said(end) : own
}

const said = ({
  title,
  text,
}: {
  title: string | ((provider: string) => string)
  text: (of: typeof names) => string
}): Words => ({ title: typeof title === 'string' ? title : title(names.provider), text: text(names) })

/** Shows a state: the status line, and the cover over the screen in every state but `live`. */
export function showState(shown: Shown): void {
  const { state, reason } = shown
  const words = wordsOf(shown)
  const isOver = state === 'connected' || (state === 'failed' && !shown.mayRetry)
  status.dataset['state'] = state
  status.dataset['reason'] = reason ?? ''
  main.dataset['state'] = state
  main.dataset['reason'] = reason ?? ''
  find('[data-status-text]').textContent = state === 'waiting' ? words.title : texts.states[state].status
  title.textContent = words.title
  text.textContent = state === 'failed' ? '' : words.text
  text.hidden = text.textContent === ''
  alert.textContent = state === 'failed' ? words.text : ''
  alert.hidden = state !== 'failed'
  offerContinue(shown.onContinue)
  find('[data-again]').hidden = !shown.mayRetry
  cancel.hidden = isOver
  // What was told of an earlier state says nothing of this one.
  if (state === 'waiting' || state === 'checking' || isOver) notice.hidden = true
  // Without a browser there is nothing to be seen of one.
  if (state === 'connected' || state === 'failed') clear()
  showAddress(where)
  link.hidden = (state !== 'connected' && state !== 'failed') || redirect === undefined
  link.classList.toggle('plain', shown.mayRetry === true)
  if (redirect !== undefined) link.href = statusAddress(redirect, shown)
  canvas.inert = state !== 'live' && !shown.keepsInput
  if (state === 'live') {
    canvas.hidden = false
    // Whoever has begun to use something else keeps it.
    if (document.activeElement === document.body) canvas.focus({ preventScroll: true })
  }
}

/** Another page of this browser shows the flow now; the visitor may take it back. Nothing is under way here: the page waits for a choice. */
function offerContinue(onContinue: (() => void) | undefined): void {
  const proceed = find<HTMLButtonElement>('[data-continue]')
  proceed.hidden = !onContinue
  sign.hidden = onContinue !== undefined
  if (onContinue) proceed.onclick = onContinue
}

/** Where the app hears how it ended. */
function statusAddress(address: string, { state, reason }: { state: PageState; reason?: unknown }): string {
  const outcome = state === 'connected' ? 'connected' : reason === 'by_visitor' ? 'cancelled' : null
  if (outcome === null) return address
  const url = new URL(address)
  if (url.searchParams.has('status')) url.searchParams.set('status', outcome)
  // What else is in the query stays as the app wrote it.
  else url.search += `${url.search === '' ? '?' : '&'}status=${outcome}`
  return url.href
}

/** At the end nothing is left of what was seen and typed. */
function clear(): void {
  canvas.hidden = true
  canvas.width = 1
  canvas.height = 1
  find<HTMLInputElement>('[data-text]').value = ''
  find<HTMLTextAreaElement>('.catcher').value = ''
  where = NOWHERE
  find<HTMLDialogElement>('[data-cancel-question]').close()
}

/** The page goes back to the app by itself; the link is for whoever does not want to wait. Null where the app named no way back. */
export function wayBack(): string | null {
  if (redirect === undefined) return null
  if (main.dataset['state'] === 'connected') text.textContent = texts.connectedLeaving(names)
  return link.href
}

type Address = Omit<Extract<FarmMessage, { type: 'address' }>, 'type'>

const NOWHERE: Address = { host: '', secure: false, popup: false }
let where = NOWHERE

/** Where the visitor types, as a browser shows it. */
export function showAddress(address: Address): void {
  where = address
  const { host, secure, popup } = address
  const { state } = main.dataset
  find('[data-remote-host]').hidden = host === '' || (state !== 'live' && state !== 'checking')
  find('[data-host]').textContent = host
  find('[data-lock]').toggleAttribute('hidden', !secure)
  find('[data-close-window]').hidden = !popup || state !== 'live'
}

let hiding: AbortController | undefined

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

export function showNotice(what: Notice | 'too_late' | 'not_answered', detail: string, sleep: Sleep): void {
  // While the sign-in page is still to come, the state says that it does not, and that it is tried again.
  if (what === 'unanswered' && main.dataset['state'] !== 'live') return
  showWords(texts.notices[what](names, detail), sleep)
}

export function showWords(words: string, sleep: Sleep): void {
  hiding?.abort()
  hiding = new AbortController()
  notice.textContent = words
  notice.hidden = false
  sleep(NOTICE_MS, hiding.signal).then(
    () => {
      notice.hidden = true
    },
    () => undefined,
  )
}
