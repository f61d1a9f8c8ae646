/**
 * For the partner's own page (docs/behaviour.md, Hosted pages): opens the connect flow beside it and says how it ended. Needs nothing else of
 * this package, and runs in browsers only.
 */
export type ConnectOutcome = 'connected' | 'cancelled' | 'failed' | 'expired'

export type OpenConnectOptions = {
  /** The connect link that your server signed, or a promise of it: then the window opens at once and goes there. */
  url: string | Promise<string>
  /** Called once, unless the page itself went to the link. */
  onEnd: (outcome: ConnectOutcome) => void
}

const CHANNEL = 'ccs-connect'
const HEARD = 'heard'
/** How often the service is asked how the flow goes. */
const LOOK_MS = 2_000
/** A window that comes back after the end was known still wants to be closed. */
const LINGER_MS = 60_000
const WIDTH = 1_040
const HEIGHT = 780

const isOutcome = (value: unknown): value is ConnectOutcome =>
  value === 'connected' || value === 'cancelled' || value === 'failed' || value === 'expired'

/** A popup; on phones a tab; null where neither is allowed. */
function openWindow(): Window | null {
  const { screen } = window
  const isPhone = matchMedia('(pointer: coarse)').matches && Math.min(screen.width, screen.height) <= 600
  const width = Math.min(WIDTH, screen.availWidth)
  const height = Math.min(HEIGHT, screen.availHeight)
  const left = Math.round((screen.availWidth - width) / 2)
  const top = Math.round((screen.availHeight - height) / 2)
  const opened = window.open(
    'about:blank',
    '_blank',
    isPhone ? '' : `popup,width=${width},height=${height},left=${left},top=${top}`,
  )
  if (opened) opened.opener = null
  return opened
}

/** What the service says of the flow; null where it cannot be asked. `left`: the flow is open, and its page is not. */
async function askState(link: string): Promise<string | null> {
  const { origin, pathname, searchParams } = new URL(link)
  const body = searchParams.get('token')
  if (!body) return null
  const answer = await fetch(`${origin}${pathname}/state`, { method: 'POST', body }).catch(() => null)
  return answer?.ok ? ((await answer.json()) as { state: string }).state : null
}

/**
 * Opens the connect flow: in a popup, in a tab on phones, and where neither is allowed by taking this page there. Call it from a click. The
 * flow ends at the link's `redirectUrl`, a page of your own that calls `finishConnect`; a window that is closed before is `cancelled`.
 */
export function openConnect({ url, onEnd }: OpenConnectOptions): void {
  const opened = openWindow()
  if (!opened)
    return void Promise.resolve(url).then(
      (link) => location.assign(link),
      () => onEnd('failed'),
    )
  const channel = new BroadcastChannel(CHANNEL)
  let isOver = false
  let told: ConnectOutcome | undefined
  const end = (outcome: ConnectOutcome): void => {
    if (isOver) return
    isOver = true
    if (told) channel.postMessage(HEARD)
    setTimeout(() => channel.close(), LINGER_MS)
    onEnd(outcome)
  }
  const fail = (): void => {
    opened.close()
    end('failed')
  }
  const look = async (): Promise<void> => {
    const state = await askState(await url)
    if (isOutcome(state)) end(state)
    else if (state === 'left') end(told === undefined || told === 'connected' ? 'cancelled' : told)
    else if (state === null && told) end(told)
  }
  // Any site can send a visitor to the page at the `redirectUrl`, and another flow may end there: the service says how this one did.
  channel.onmessage = ({ data }) => {
    if (!isOutcome(data)) return
    told = data
    if (isOver) channel.postMessage(HEARD)
    else look().catch(fail)
  }
  const follow = async (): Promise<void> => {
    opened.location.replace(await url)
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      await look()
    }
  }
  follow().catch(fail)
}

/**
 * For the page at the link's `redirectUrl`: tells the page that waits, which then has this window closed. Returns how the flow ended, for
 * where nobody waits because the flow had the page to itself.
 */
export function finishConnect(): ConnectOutcome {
  const status = new URLSearchParams(location.search).get('status')
  const outcome = isOutcome(status) ? status : 'failed'
  const channel = new BroadcastChannel(CHANNEL)
  channel.onmessage = ({ data }) => {
    if (data === HEARD) window.close()
  }
  channel.postMessage(outcome)
  return outcome
}
