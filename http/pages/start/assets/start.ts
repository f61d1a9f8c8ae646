import { systemClock } from '../../../../core/clock.ts'
import type { FarmMessage } from '../../../../wire/stream.ts'
import { LARGEST_SIDE, SMALLEST_SIDE } from '../../../../wire/stream-constants.ts'
import { find } from '../../kit/assets/dom.ts'
import { listenToCancel } from './cancel.ts'
import { connect } from './connection.ts'
import { listenToKeyboard } from './keyboard.ts'
import { listenToMouse, listenToTouch, type Send } from './pointer.ts'
import { post } from './post.ts'
import { createFrames } from './screen.ts'
import { listenToTypingBar } from './typing-bar.ts'
import { showAddress, showNotice, showState, wayBack } from './view.ts'

/** The hosted page `/start`: begins the flow once it is seen, and shows the remote browser of it. */
const PHONE_WIDTH = 640
const LARGEST_DESKTOP = { width: 1_440, height: 960 }
const RETURN_MS = 1_500
const RETRY_MS = 2_000
const INTERRUPTED = { state: 'waiting', reason: 'interrupted' } as const

const clock = systemClock()
const stage = find('.stage')
const { flow = '' } = find('main.start').dataset

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
    const answer = await post<{ mobile: boolean }>('/start', { viewport: viewport() })
    if (answer && 'ok' in answer) return answer.ok
    if (answer) {
      showState({ state: 'failed', message: answer.error })
      return null
    }
    showState(INTERRUPTED)
    await clock.sleep(RETRY_MS)
  }
}

async function leave(): Promise<void> {
  const address = wayBack()
  if (address === null) return
  await clock.sleep(RETURN_MS)
  location.replace(address)
}

async function start(): Promise<void> {
  const beginning = visible().then(begin)
  // Whatever still comes of a flow that the visitor has ended is not shown.
  let isOver = false
  const show: typeof showState = (shown) => {
    if (!isOver) showState(shown)
  }
  listenToCancel({
    ready: beginning,
    onCancelled: () => {
      show({ state: 'failed', reason: 'by_visitor' })
      isOver = true
      void leave()
    },
    onRefused: (why) => showNotice(why, '', clock.sleep),
  })
  const begun = await beginning
  if (!begun) return
  const send: Send = (message) => connection.send(message)
  const typingBar = listenToTypingBar(send)
  let isLive = false
  // There is something to see and to click from the first picture on.
  const onDrawn = (frame: number): void => {
    send({ type: 'ack', frame })
    if (isLive) show({ state: 'live' })
    isLive = false
  }
  const showMessage = (message: FarmMessage): void => {
    if (message.type === 'focus') typingBar.showFocus(message)
    else if (message.type === 'notice') showNotice(message.notice, message.detail ?? '', clock.sleep)
    else if (message.type === 'address') showAddress(message)
    else if (message.state === 'live') isLive = true
    else {
      isLive = false
      show(message)
      if (message.state === 'connected' || (message.reason === 'by_visitor' && !isOver)) void leave()
    }
  }
  const connection = connect({
    flow,
    clock,
    onMessage: showMessage,
    onFrame: createFrames({ onDrawn }),
    onInterrupted: () => show(INTERRUPTED),
    mayGoOn: async () => (await begin()) !== null,
    onReplaced: (resume) => show({ state: 'waiting', reason: 'elsewhere', onContinue: resume }),
    onOtherFlow: () => show({ state: 'failed', reason: 'other_flow' }),
  })
  find('[data-close-window]').addEventListener('click', () => send({ type: 'close-window' }))
  find('[data-again]').addEventListener('click', () => {
    show({ state: 'starting' })
    void post('/start/again')
  })
  listenToMouse(send)
  listenToTouch({ send, isPhone: () => begun.mobile })
  listenToKeyboard({ send, isPhone: () => isPhone })
}

void start()
