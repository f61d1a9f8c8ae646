import { randomUUID } from 'node:crypto'
import type { FarmMessage, PageMessage } from '../wire/stream.ts'

/** Carries out each numbered input of a page once, whatever it sends again after its connection was lost. */
interface InputOrder {
  /** The message to carry out, or null for one that has been. */
  next(message: PageMessage): PageMessage | null
  /** Another remote browser: input that waits in the page was not meant for it. */
  renew(): void
  /** What a page that joins has to know. */
  screen(): FarmMessage
}

export function createInputOrder({ tell }: { tell: (message: FarmMessage) => void }): InputOrder {
  let id = randomUUID()
  let page = ''
  let number = 0
  return {
    next: (message) => {
      if (message.type !== 'input') return message
      if (message.page !== page) {
        page = message.page
        number = 0
      }
      const isNew = message.number > number
      number = Math.max(number, message.number)
      tell({ type: 'received', page, number })
      return isNew ? message.input : null
    },
    renew: () => {
      id = randomUUID()
      page = ''
    },
    screen: () => ({ type: 'screen', id }),
  }
}
