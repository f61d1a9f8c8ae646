import type { PageState } from '../../../../wire/stream.ts'
import { find } from '../../kit/assets/dom.ts'

/** What the page says in each state; a message of the service goes before the text. */
interface Words {
  status: string
  title: string
  text: string
}

const main = find('main.start')
const { app = '', provider = '' } = main.dataset

const WORDS: Record<PageState, Words> = {
  starting: { status: 'Opening a browser…', title: 'Opening a browser…', text: 'This takes a few seconds.' },
  waiting: { status: 'One moment…', title: 'One moment…', text: 'A browser is being made ready for you.' },
  live: { status: 'Ready to sign in', title: '', text: '' },
  checking: { status: 'Checking your sign-in…', title: 'Checking your sign-in…', text: 'Almost done.' },
  connected: {
    status: 'Connected',
    title: 'Connected',
    text: `Your ${provider} account is now connected to ${app}. You can close this page.`,
  },
  failed: { status: 'Not connected', title: 'Not connected', text: '' },
}

const NOTICE_MS = 8_000

const status = find('[data-state]')
const canvas = find<HTMLCanvasElement>('canvas.screen')
const title = find('[data-cover-title]')
const text = find('[data-cover-text]')
const alert = find('[data-alert]')
const notice = find('[data-notice]')
const proceed = find<HTMLButtonElement>('[data-continue]')

let hiding: AbortController | undefined

/** Shows a state: the status line, and the cover over the screen in every state but `live`. */
export function showState(state: PageState, message?: string): void {
  const words = WORDS[state]
  status.dataset['state'] = state
  main.dataset['state'] = state
  find('[data-status-text]').textContent = words.status
  title.textContent = words.title
  text.textContent = state === 'failed' ? '' : (message ?? words.text)
  text.hidden = text.textContent === ''
  alert.textContent = state === 'failed' ? (message ?? 'Return to the app and start again.') : ''
  alert.hidden = state !== 'failed'
  proceed.hidden = true
  canvas.inert = state !== 'live'
  if (state === 'live') {
    canvas.hidden = false
    // Whoever has begun to use something else keeps it.
    if (document.activeElement === document.body) canvas.focus({ preventScroll: true })
  }
}

/** Another page of this browser shows the flow now; the visitor may take it back. */
export function showElsewhere(onContinue: () => void): void {
  showState('waiting', 'This sign-in is open in another tab or window.')
  title.textContent = 'Open elsewhere'
  proceed.hidden = false
  proceed.onclick = onContinue
}

/** Where the visitor goes after success; the page goes there by itself a moment later. */
export function showReturn(address: string): void {
  const link = find<HTMLAnchorElement>('[data-return]')
  link.href = address
  link.hidden = false
  text.textContent = `Your ${provider} account is now connected to ${app}. Taking you back…`
}

export function showNotice(message: string, sleep: (ms: number, signal: AbortSignal) => Promise<void>): void {
  hiding?.abort()
  hiding = new AbortController()
  notice.textContent = message
  notice.hidden = false
  sleep(NOTICE_MS, hiding.signal).then(
    () => {
      notice.hidden = true
    },
    () => undefined,
  )
}
