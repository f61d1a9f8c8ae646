import type { CDPSession } from 'playwright'
import type { FarmMessage, PageMessage } from '../wire/stream.ts'
import type { Dialogs } from './dialogs.ts'
import type { Fields } from './fields.ts'
import { dispatchInput } from './input.ts'

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
  let waiting = 0
  let last: Promise<void> = Promise.resolve()

  const carryOut = async (message: PageMessage): Promise<void> => {
    if (message.type === 'edit') {
      await fields.edit(message)
      tell(await fields.focus())
    } else if (message.type === 'pick') await fields.pick(message)
    else dispatchInput({ cdp, message, scale })
  }
  return (message) => {
    // A page that a dialog holds up does nothing until it is answered.
    if (message.type === 'answer') return dialogs.answer(message)
    if (message.type === 'copy') return void fields.selection().then((text) => tell({ type: 'copied', text }))
    const isField = message.type === 'edit' || message.type === 'pick'
    if (waiting === 0 && !isField) return dispatchInput({ cdp, message, scale })
    waiting++
    last = last
      .then(() => carryOut(message))
      .catch(() => undefined)
      .finally(() => {
        waiting--
      })
  }
}
