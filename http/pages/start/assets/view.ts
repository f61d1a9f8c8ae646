import type { PageState } from '../../../../wire/stream.ts'
import { find } from '../../kit/assets/dom.ts'

/** What the page says in each state; the service's own title and message go before them. */
interface Words {
  status: string
  title: string
  text: string
}

/** What a state is told with instead. */
interface Told {
  title?: string | undefined
  message?: string | undefined
}

const main = find('main.start')
const { app = '', provider = '', redirect } = main.dataset

const WORDS: Record<PageState, Words> = {
  starting: {
    status: 'Opening a browser…',
    title: 'Opening a browser…',
    text: `${provider}’s sign-in page is here in a few seconds.`,
  },
  waiting: {
    status: 'One moment…',
    title: 'One moment…',
    text: `A browser for your sign-in to ${provider} is being made ready.`,
  },
  live: { status: 'Ready to sign in', title: '', text: '' },
  checking: {
    status: 'Checking your sign-in…',
    title: 'Checking your sign-in…',
    text: `Almost done: ${app} is being connected to your ${provider} account.`,
  },
  connected: {
    status: 'Connected',
    title: 'Connected',
    text: `Your ${provider} account is now connected to ${app}. You can close this page.`,
  },
  failed: {
    status: 'Not connected',
    title: 'Not connected',
    text: `Return to ${app} and start again from there.`,
  },
}

const NOTICE_MS = 8_000

const status = find('[data-state]')
const canvas = find<HTMLCanvasElement>('canvas.screen')
const title = find('[data-cover-title]')
const text = find('[data-cover-text]')
const alert = find('[data-alert]')
const sign = find('.sign')
const notice = find('[data-notice]')
const proceed = find<HTMLButtonElement>('[data-continue]')

let hiding: AbortController | undefined

/** Words for a page that has lost its service, and tries again by itself. */
export const INTERRUPTED: Told = { title: 'The connection is interrupted', message: 'Trying again…' }

/** Shows a state: the status line, and the cover over the screen in every state but `live`. */
export function showState(state: PageState, { title: heading, message }: Told = {}): void {
  const words = WORDS[state]
  status.dataset['state'] = state
  main.dataset['state'] = state
  find('[data-status-text]').textContent = words.status
  title.textContent = heading ?? words.title
  text.textContent = state === 'failed' ? '' : (message ?? words.text)
  text.hidden = text.textContent === ''
  alert.textContent = state === 'failed' ? (message ?? words.text) : ''
  alert.hidden = state !== 'failed'
  proceed.hidden = true
  sign.hidden = false
  if (state === 'connected' || state === 'failed') clear()
  if (state === 'failed' && redirect !== undefined) showReturn(redirect)
  canvas.inert = state !== 'live'
  if (state === 'live') {
    canvas.hidden = false
    // Whoever has begun to use something else keeps it.
    if (document.activeElement === document.body) canvas.focus({ preventScroll: true })
  }
}

/** At the end nothing is left of what was seen and typed. */
function clear(): void {
  canvas.hidden = true
  canvas.width = 1
  canvas.height = 1
  find<HTMLInputElement>('[data-text]').value = ''
  find<HTMLTextAreaElement>('.catcher').value = ''
}

/** Another page of this browser shows the flow now; the visitor may take it back. */
export function showElsewhere(onContinue: () => void): void {
  showState('waiting', { title: 'Open elsewhere', message: 'This sign-in is open in another tab or window.' })
  // Nothing is under way here: the page waits for a choice.
  sign.hidden = true
  proceed.hidden = false
  proceed.onclick = onContinue
}

/** After success the page goes back to the app by itself; the link is for whoever does not want to wait. */
export function showLeaving(address: string): void {
  showReturn(address)
  text.textContent = `Your ${provider} account is now connected to ${app}. Taking you back…`
}

function showReturn(address: string): void {
  const link = find<HTMLAnchorElement>('[data-return]')
  link.href = address
  link.hidden = false
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
