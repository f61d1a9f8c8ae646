import { systemClock } from '../../../../core/clock.ts'
import type { FarmMessage } from '../../../../wire/stream.ts'
import { LARGEST_SIDE, SMALLEST_SIDE } from '../../../../wire/stream-constants.ts'
import { find } from '../../kit/assets/dom.ts'
import { connect } from './connection.ts'
import { listenToKeyboard } from './keyboard.ts'
import { listenToMouse, listenToTouch, type Send } from './pointer.ts'
import { createFrames } from './screen.ts'
import { listenToTypingBar } from './typing-bar.ts'
import { INTERRUPTED, showElsewhere, showLeaving, showNotice, showState } from './view.ts'

/** The hosted page `/start`: begins the flow once it is seen, and shows the remote browser of it. */
const PHONE_WIDTH = 640
const LARGEST_DESKTOP = { width: 1_440, height: 960 }
const RETURN_MS = 1_500
const RETRY_MS = 2_000
const OTHER_FLOW =
  'Another link was opened in this browser since. Continue there, or return to the app and start again.'

const clock = systemClock()
const main = find('main.start')
const stage = find('.stage')
const { flow = '', redirect } = main.dataset

const isPhone =
  innerWidth <= PHONE_WIDTH || (matchMedia('(pointer: coarse)').matches && Math.min(innerWidth, innerHeight) <= 500)
document.body.classList.toggle('phone', isPhone)
find('[data-typing]').hidden = !isPhone

// The part of the screen that a device's keyboard leaves, where the browser does not resize the page itself.
visualViewport?.addEventListener('resize', () => {
  document.body.style.height = visualViewport ? `${visualViewport.height}px` : ''
})

function viewport() {
  const width = Math.floor(Math.max(SMALLEST_SIDE, stage.clientWidth))
  const height = Math.floor(Math.max(SMALLEST_SIDE, stage.clientHeight))
  return {
    width: isPhone ? Math.min(width, LARGEST_SIDE) : Math.min(width, LARGEST_DESKTOP.width),
    height: isPhone ? Math.min(height, LARGEST_SIDE) : Math.min(height, LARGEST_DESKTOP.height),
    deviceScaleFactor: Math.min(Math.max(devicePixelRatio, 1), 3),
    mobile: isPhone,
  }
}

const visible = async (): Promise<void> => {
  if (document.visibilityState === 'visible') return
  await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
  return visible()
}

/** Begins the flow, or finds it again; null where that cannot be, and the visitor was told why. */
async function begin(): Promise<{ mobile: boolean } | null> {
  for (;;) {
    const answer = await fetch('/start', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ flow, viewport: viewport() }),
    }).catch(() => null)
    if (answer?.ok) return (await answer.json()) as { mobile: boolean }
    if (answer && answer.status < 500) {
      const { error } = (await answer.json().catch(() => ({}))) as { error?: string }
      showState('failed', { message: error })
      return null
    }
    showState('waiting', INTERRUPTED)
    await clock.sleep(RETRY_MS)
  }
}

async function leave(): Promise<void> {
  if (redirect === undefined) return
  showLeaving(redirect)
  await clock.sleep(RETURN_MS)
  location.replace(redirect)
}

async function start(): Promise<void> {
  await visible()
  const begun = await begin()
  if (!begun) return
  const send: Send = (message) => connection.send(message)
  const typingBar = listenToTypingBar(send)
  let isLive = false
  // There is something to see and to click from the first picture on.
  const onDrawn = (frame: number): void => {
    send({ type: 'ack', frame })
    if (isLive) showState('live')
    isLive = false
  }
  const showMessage = (message: FarmMessage): void => {
    if (message.type === 'focus') typingBar.showFocus(message)
    else if (message.type === 'notice') showNotice(message.message, clock.sleep)
    else if (message.state === 'live') isLive = true
    else {
      isLive = false
      showState(message.state, message)
      if (message.state === 'connected') void leave()
    }
  }
  const connection = connect({
    flow,
    clock,
    onMessage: showMessage,
    onFrame: createFrames({ onDrawn }),
    onInterrupted: () => showState('waiting', INTERRUPTED),
    mayGoOn: async () => (await begin()) !== null,
    onReplaced: showElsewhere,
    onOtherFlow: () => showState('failed', { message: OTHER_FLOW }),
  })
  listenToMouse(send)
  listenToTouch({ send, isPhone: () => begun.mobile })
  listenToKeyboard({ send, isPhone: () => isPhone })
}

void start()
