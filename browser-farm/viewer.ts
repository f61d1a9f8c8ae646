import type { WebSocket } from 'ws'
import type { Clock } from '../core/clock.ts'
import { type Frame, frameMessages } from '../wire/frame.ts'
import { type FarmMessage, type PageMessage, readPageMessage } from '../wire/stream.ts'
import { CLOSE_LEFT, CLOSE_PROTOCOL, PAGE_MESSAGES_PER_SECOND } from '../wire/stream-constants.ts'
import { createLinkQuality } from './link-quality.ts'

export type Picture = Omit<Frame, 'number'>

/** The page that watches a lease, at the other end of one socket. */
export interface Viewer {
  tell(message: FarmMessage): void
  /** Sends the frame as soon as the page can take it; a newer one replaces it until then. */
  show(picture: Picture): void
  /** False while the page is hidden. */
  visible(): boolean
  close(code: number): void
}

/** Bytes that may wait for a page: one that acknowledges what it does not read is sent no further frame. */
const MOST_WAITING = 512 * 1024
/** What is told waits on top of that, and no page that reads lets so much wait: it connects again, and hears how things stand. */
const MOST_TOLD = 4 * 1024 * 1024
const RATE_WINDOW_MS = 100
const MESSAGES_PER_WINDOW = (PAGE_MESSAGES_PER_SECOND * RATE_WINDOW_MS) / 1_000

export function createViewer({
  socket,
  clock,
  onInput,
  onVisibility,
  onQuality,
  onClose,
}: {
  socket: WebSocket
  clock: Clock
  onInput: (message: PageMessage) => void
  onVisibility: () => void
  /** The quality (JPEG) that the link bears while the picture moves has changed. */
  onQuality: (quality: number) => void
  /** `left`: the page was closed; otherwise it is only out of reach. */
  onClose: (how: { left: boolean }) => void
}): Viewer {
  const frames = createFrameSender({ socket, clock, onQuality })
  const mayRead = createRateLimit({ socket, clock })
  let visible = true
  socket.on('message', (data, isBinary) => {
    mayRead()
    const message = isBinary ? null : readPageMessage(String(data))
    if (!message) return socket.close(CLOSE_PROTOCOL)
    if (message.type === 'ack') return frames.acknowledge(message.frame)
    if (message.type !== 'visibility') return onInput(message)
    visible = message.visible
    onVisibility()
  })
  socket.on('close', (code) => onClose({ left: code === CLOSE_LEFT }))
  socket.on('error', () => socket.terminate())
  return {
    tell: (message) => {
      if (socket.bufferedAmount > MOST_TOLD) socket.terminate()
      else socket.send(JSON.stringify(message))
    },
    show: frames.show,
    visible: () => visible,
    close: (code) => socket.close(code),
  }
}

function createFrameSender({
  socket,
  ...linked
}: {
  socket: WebSocket
  clock: Clock
  onQuality: (quality: number) => void
}) {
  const link = createLinkQuality(linked)
  let number = 0
  let acknowledged = 0
  let next: Picture | undefined
  const send = (): void => {
    if (!next || number - acknowledged >= link.inFlight() || socket.bufferedAmount > MOST_WAITING) return
    number++
    for (const message of frameMessages({ number, ...next })) socket.send(message)
    link.sent(number)
    next = undefined
  }
  return {
    show: (picture: Picture): void => {
      next = picture
      send()
    },
    acknowledge: (frame: number): void => {
      acknowledged = Math.min(Math.max(acknowledged, frame), number)
      link.acknowledged(acknowledged)
      send()
    },
  }
}

/** Reads a page that sends too much more slowly; nothing is lost. */
function createRateLimit({ socket, clock }: { socket: WebSocket; clock: Clock }): () => void {
  let windowStart = clock.elapsed()
  let count = 0
  return () => {
    const now = clock.elapsed()
    if (now - windowStart >= RATE_WINDOW_MS) {
      windowStart = now
      count = 0
    }
    count++
    if (count <= MESSAGES_PER_WINDOW || socket.isPaused) return
    socket.pause()
    clock.timer(RATE_WINDOW_MS - (now - windowStart), () => socket.resume())
  }
}
