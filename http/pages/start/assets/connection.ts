import type { Clock } from '../../../../core/clock.ts'
import type { FarmMessage, PageMessage } from '../../../../wire/stream.ts'
import { CLOSE_ENDED, CLOSE_OTHER_FLOW, CLOSE_REPLACED, STREAM_PATH } from '../../../../wire/stream-constants.ts'

const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 5_000

interface Connection {
  send(message: PageMessage): void
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
  clock: Pick<Clock, 'sleep'>
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

  const send = (message: PageMessage): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
  }
  const tellVisibility = (): void => send({ type: 'visibility', visible: document.visibilityState === 'visible' })
  document.addEventListener('visibilitychange', tellVisibility)

  const open = (): void => {
    let opened = false
    socket = new WebSocket(address)
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => {
      opened = true
      retryMs = FIRST_RETRY_MS
    }
    socket.onmessage = ({ data }) => {
      if (typeof data !== 'string') return onFrame(data as ArrayBuffer)
      const message = JSON.parse(data) as FarmMessage
      onMessage(message)
      // Another node may have taken over, which does not know yet that nobody looks.
      if (message.type === 'state' && document.visibilityState !== 'visible') tellVisibility()
    }
    socket.onclose = ({ code }) => {
      if (code === CLOSE_ENDED) return
      if (code === CLOSE_REPLACED) return onReplaced(open)
      if (code === CLOSE_OTHER_FLOW) return onOtherFlow()
      onInterrupted()
      hurry = new AbortController()
      const again = async (): Promise<void> => {
        if (opened || (await mayGoOn())) open()
      }
      clock.sleep(retryMs, hurry.signal).then(again, again)
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
    }
  }
  open()
  return { send }
}
