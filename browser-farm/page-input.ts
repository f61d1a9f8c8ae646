import type { CDPSession } from 'playwright'
import type { FarmMessage, PageMessage } from '../wire/stream.ts'
import type { Dialogs } from './dialogs.ts'
import type { Fields } from './fields.ts'
import { dispatchInput } from './input.ts'

/**
 * What one page may have been given and not taken: one that is busy takes nothing, and what is typed at it meanwhile is held in memory. Seconds of
 * moving a mouse, and more than anybody types.
 */
const MOST_UNDER_WAY = 1_000

/** Carries out what a visitor does on one page, in order: what follows a change of a field waits until that is done. */
export function createPageInput({
  cdp,
  fields,
  dialogs,
  scale,
  tell,
}: {
  cdp: CDPSession
  fields: Fields
  dialogs: Dialogs
  /** Device pixels of the remote screen to one CSS pixel. */
  scale: number
  tell: (message: FarmMessage) => void
}): (message: PageMessage) => void {
  /** Changes of fields, and what came after them. */
  let waiting = 0
  let underWay = 0
  let last: Promise<unknown> = Promise.resolve()

  const carryOut = async (message: PageMessage): Promise<void> => {
    if (message.type === 'edit') {
      await fields.edit(message)
      tell(await fields.focus())
    } else if (message.type === 'pick') await fields.pick(message)
    else if (message.type === 'copy') tell({ type: 'copied', text: await fields.selection() })
    // Whatever comes next need not wait until the page has taken it.
    else void count(dispatchInput({ cdp, message, scale }))
  }
  const count = (work: Promise<unknown>): Promise<unknown> => {
    underWay++
    return work.catch(() => undefined).finally(() => underWay--)
  }
  return (message) => {
    // A page that a dialog holds up does nothing until it is answered.
    if (message.type === 'answer') return dialogs.answer(message)
    if (underWay >= MOST_UNDER_WAY) return
    const isField = message.type === 'edit' || message.type === 'pick'
    if (message.type === 'copy' || (waiting === 0 && !isField)) return void count(carryOut(message))
    waiting++
    last = count(last.then(() => carryOut(message))).finally(() => waiting--)
  }
}
