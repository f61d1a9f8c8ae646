import type { Clock, Timer } from '../../../../core/clock.ts'
import type { FarmMessage, PageMessage } from '../../../../wire/stream.ts'
import {
  CLOSE_ENDED,
  CLOSE_OTHER_FLOW,
  CLOSE_REPLACED,
  SILENCE_MS,
  STREAM_PATH,
} from '../../../../wire/stream-constants.ts'

const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 5_000
/** In the place of a close code: nothing came for too long. */
const CLOSE_SILENT = 0

interface Connection {
  /** False where there is no connection. */
  send(message: PageMessage): boolean
}

/** The page's socket: opened again, with a growing pause, until the flow has ended or goes on elsewhere. */
export function connect({
  flow,
  clock,
  onMessage,
  onFrame,
  onInterrupted,
  mayGoOn,
  onReplaced,
  onOtherFlow,
}: {
  flow: string
  clock: Pick<Clock, 'sleep' | 'timer'>
  onMessage: (message: FarmMessage) => void
  onFrame: (message: ArrayBuffer) => void
  onInterrupted: () => void
  /** Asked before the next attempt where the last one was refused: a page that was told why does not try again. */
  mayGoOn: () => Promise<boolean>
  /** `resume` takes the flow back. */
  onReplaced: (resume: () => void) => void
  onOtherFlow: () => void
}): Connection {
  const address = new URL(`${STREAM_PATH}?flow=${flow}`, location.href)
  address.protocol = address.protocol.replace('http', 'ws')
  let socket: WebSocket
  let retryMs = FIRST_RETRY_MS
  let hurry = new AbortController()
  addEventListener('online', () => hurry.abort())

  const send = (message: PageMessage): boolean => {
    if (socket.readyState !== WebSocket.OPEN) return false
    socket.send(JSON.stringify(message))
    return true
  }
  const tellVisibility = (): void => void send({ type: 'visibility', visible: document.visibilityState === 'visible' })
  document.addEventListener('visibilitychange', tellVisibility)

  const open = (): void => {
    const opening = new WebSocket(address)
    socket = opening
    socket.binaryType = 'arraybuffer'
    let opened = false
    let silence: Timer | undefined
    const leave = (code: number): void => {
      silence?.cancel()
      opening.onopen = opening.onmessage = opening.onclose = null
      opening.close()
      if (code === CLOSE_ENDED) return
      if (code === CLOSE_REPLACED) {
        onReplaced(open)
        return
      }
      if (code === CLOSE_OTHER_FLOW) {
        onOtherFlow()
        return
      }
      onInterrupted()
      hurry = new AbortController()
      const isRefused = !opened && code !== CLOSE_SILENT
      const again = async (): Promise<void> => {
        if (!isRefused || (await mayGoOn())) open()
      }
      clock.sleep(retryMs, hurry.signal).then(again, again)
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
    }
    /** A network that passes nothing closes nothing: only a silence tells of it. */
    const listen = (): void => {
      silence?.cancel()
      silence = clock.timer(SILENCE_MS, () => leave(CLOSE_SILENT))
    }
    listen()
    socket.onopen = () => {
      opened = true
      retryMs = FIRST_RETRY_MS
      listen()
    }
    socket.onmessage = ({ data }) => {
      listen()
      if (typeof data !== 'string') return onFrame(data as ArrayBuffer)
      const message = JSON.parse(data) as FarmMessage
      onMessage(message)
      // Another node may have taken over, which does not know yet that nobody looks.
      if (message.type === 'state' && document.visibilityState !== 'visible') tellVisibility()
    }
    socket.onclose = ({ code }) => leave(code)
  }
  open()
  return { send }
}
