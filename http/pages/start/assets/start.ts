import { systemClock, type Timer } from '../../../../core/clock.ts'
import type { FarmMessage, FocusMessage, PageMessage } from '../../../../wire/stream.ts'
import { find } from '../../kit/assets/dom.ts'
import { listenToCancel } from './cancel.ts'
import { connect } from './connection.ts'
import { createCopy } from './copy.ts'
import { createDialogs } from './dialogs.ts'
import { followViewport, wantedViewport } from './follow-viewport.ts'
import { createHeldInput, PAGE_ID } from './held-input.ts'
import { listenToKeyboard } from './keyboard.ts'
import { createPickers } from './pickers.ts'
import { listenToMouse, listenToTouch, type Send } from './pointer.ts'
import { post } from './post.ts'
import { createFrames } from './screen.ts'
import { keepInSight } from './screen-view.ts'
import { texts } from './texts.ts'
import { listenToTypingBar } from './typing-bar.ts'
import { type Shown, showAddress, showNotice, showState, showWords, wayBack } from './view.ts'

/** The hosted page `/start`: begins the flow once it is seen, and shows the remote browser of it. */
const PHONE_WIDTH = 640
const RETURN_MS = 1_500
const RETRY_MS = 2_000
/** What passes in seconds, and has not for so long, says so: nobody is to think that it hangs. */
const SLOW_MS = 20_000
const INTERRUPTED = { state: 'waiting', reason: 'interrupted' } as const

const clock = systemClock()
const { flow = '' } = find('main.start').dataset

const isPhone =
  innerWidth <= PHONE_WIDTH || (matchMedia('(pointer: coarse)').matches && Math.min(innerWidth, innerHeight) <= 500)
/** A tablet's screen is a desktop's, and its keyboard a phone's. */
const hasKeys = !isPhone && !matchMedia('(hover: none) and (pointer: coarse)').matches
document.body.classList.toggle('phone', !hasKeys)
find('[data-typing]').hidden = hasKeys

// The part of the screen that a device's keyboard leaves, where the browser does not resize the page itself.
visualViewport?.addEventListener('resize', ({ target }) => {
  const { height, scale } = target as VisualViewport
  // A page that is zoomed shows less of itself too, and needs no less room.
  document.body.style.height = `${height * scale}px`
  // Safari has moved the page up for the field that has the focus; there is room for it now.
  scrollTo(0, 0)
})

const visible = async (): Promise<void> => {
  if (document.visibilityState === 'visible') return
  await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
  return visible()
}

/** Begins the flow, or finds it again; null where that cannot be, and the visitor was told why. */
async function begin(): Promise<{ mobile: boolean } | null> {
  for (;;) {
    const answer = await post<{ mobile: boolean }>('/start', { viewport: wantedViewport({ mobile: isPhone }) })
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
  let latest: Shown = { state: 'starting' }
  let slow: Timer | undefined
  const show: typeof showState = (shown) => {
    if (isOver) return
    latest = shown
    showState(shown)
    slow?.cancel()
    const { state, reason } = shown
    const isUnderWay = state === 'starting' || state === 'waiting' || state === 'checking'
    if (isUnderWay && (reason === undefined || reason === 'lost'))
      slow = clock.timer(SLOW_MS, () => showState({ ...shown, reason: 'slow' }))
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
  const transmit = (message: PageMessage): boolean => connection.send(message)
  const notify = (message: string): void => showWords(message, clock.sleep)
  const held = createHeldInput({ transmit, onFull: () => notify(texts.remote.refused) })
  const send: Send = (message) => {
    if (movesFocus(message)) typingBar.expectFocus()
    held.send(message)
  }
  const typingBar = listenToTypingBar(held.send)
  const pickers = createPickers(send)
  const dialogs = createDialogs(send)
  const copy = createCopy({ send, notify, clock })
  const follow = followViewport({ send, mobile: begun.mobile, clock })
  let screen: string | undefined
  let isLive = false
  // There is something to see and to click from the first picture on.
  const onDrawn = (frame: number): void => {
    transmit({ type: 'ack', frame })
    if (!isLive) return
    isLive = false
    show({ state: 'live' })
    held.goOn()
    follow()
  }
  const onScreen = (id: string): void => {
    if (screen !== undefined && id !== screen) {
      pickers.show(undefined)
      dialogs.closeAll()
      if (held.drop()) notify(texts.remote.lostInput)
    }
    screen = id
  }
  const onState = (message: Extract<FarmMessage, { type: 'state' }>): void => {
    isLive = message.state === 'live'
    if (isLive) return
    held.hold()
    pickers.show(undefined)
    if (message.state !== 'starting' && message.state !== 'waiting') dialogs.closeAll()
    show(message)
    if (message.state === 'connected' || (message.reason === 'by_visitor' && !isOver)) void leave()
  }
  const onFocus = (focus: FocusMessage): void => {
    typingBar.showFocus(focus)
    keepInSight(focus)
  }
  const onMessage = (message: FarmMessage): void => {
    if (message.type === 'state') onState(message)
    else if (message.type === 'focus') onFocus(message)
    else if (message.type === 'notice') showNotice(message.notice, message.detail ?? '', clock.sleep)
    else if (message.type === 'address') showAddress(message)
    else if (message.type === 'picker') pickers.show(message.picker)
    else if (message.type === 'dialog') dialogs.show(message.dialog)
    else if (message.type === 'dialog-closed') dialogs.close(message.id)
    else if (message.type === 'copied') copy.copied(message.text)
    else if (message.type === 'screen') onScreen(message.id)
    else if (message.type === 'received' && message.page === PAGE_ID) held.received(message.number)
  }
  const connection = connect({
    flow,
    clock,
    onMessage,
    onFrame: createFrames({ onDrawn }),
    onInterrupted: () => {
      held.hold()
      show({ state: 'waiting', reason: 'offline', keepsInput: true })
    },
    mayGoOn: async () => (await begin()) !== null,
    onReplaced: (resume) => show({ state: 'waiting', reason: 'elsewhere', onContinue: resume }),
    onOtherFlow: () => show({ state: 'failed', reason: 'other_flow' }),
  })
  find('[data-close-window]').addEventListener('click', () => send({ type: 'close-window' }))
  find('[data-again]').addEventListener('click', async () => {
    const before = latest
    const beginning: Shown = { state: 'starting' }
    show(beginning)
    const answer = await post('/start/again')
    // Where the request was lost, nobody else says that it goes on, or that it does not.
    if ((answer && 'ok' in answer) || latest !== beginning) return
    show(answer ? { state: 'failed', message: answer.error } : before)
    if (!answer) showNotice('not_answered', '', clock.sleep)
  })
  listenToMouse(send)
  listenToTouch({ send, isPhone: () => begun.mobile })
  listenToKeyboard({ send, hasKeys, onCopy: copy.ask, enterList: pickers.enter })
}

/** What may give the remote focus to something else. */
const movesFocus = (message: PageMessage): boolean =>
  (message.type === 'mouse' && message.action === 'down') || (message.type === 'touch' && message.action === 'end')

void start()
