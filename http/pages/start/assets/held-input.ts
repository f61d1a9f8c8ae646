import type { InputMessage, PageMessage } from '../../../../wire/stream.ts'
import { HELD_INPUTS } from '../../../../wire/stream-constants.ts'

/** Input on its way: kept until the service has it, so that a lost connection loses none and repeats none. */
interface HeldInput {
  send(message: PageMessage): void
  received(number: number): void
  /** From now on input waits. */
  hold(): void
  /** This remote browser can take what waits, and what comes. */
  goOn(): void
  /** What waits was meant for another browser. Returns whether there was any. */
  drop(): boolean
}

/** Names this page: numbers of another one mean nothing to it. */
export const PAGE_ID: string = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(36)).join('')

/** `transmit` returns whether the message could be sent; `onFull` is told when input is refused because too much waits. */
export function createHeldInput({
  transmit,
  onFull,
}: {
  transmit: (message: PageMessage) => boolean
  onFull: () => void
}): HeldInput {
  let number = 0
  let isHeldBack = true
  let waiting: Extract<PageMessage, { type: 'input' }>[] = []
  return {
    send: (message) => {
      if (!isHeld(message)) return void transmit(message)
      if (waiting.length >= HELD_INPUTS) return onFull()
      const input = { type: 'input', page: PAGE_ID, number: ++number, input: message } as const
      waiting.push(input)
      // The service takes numbers in their order only.
      if (!isHeldBack) transmit(input)
    },
    received: (last) => {
      waiting = waiting.filter((input) => input.number > last)
    },
    hold: () => {
      isHeldBack = true
    },
    goOn: () => {
      isHeldBack = false
      for (const input of waiting) transmit(input)
    },
    drop: () => {
      const any = waiting.length > 0
      waiting = []
      return any
    },
  }
}

const PASSING = new Set<PageMessage['type']>([
  'ack',
  'visibility',
  'viewport',
  'copy',
  'wheel',
  'answer',
  'close-window',
  'input',
])

/** Where a pointer was on its way is old at once, and a dialog that was not answered is shown again; all else counts. */
const isHeld = (message: PageMessage): message is InputMessage =>
  !PASSING.has(message.type) && !('action' in message && message.action === 'move')
