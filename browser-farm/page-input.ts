import type { CDPSession } from 'playwright'
import type { Clock } from '../core/clock.ts'
import type { FarmMessage, PageMessage } from '../wire/stream.ts'
import { answerOf } from './answer-of.ts'
import type { Dialogs } from './dialogs.ts'
import type { Fields } from './fields.ts'
import { dispatchInput } from './input.ts'

/**
 * What one page may have been given and not taken: one that is busy takes nothing, and what is typed at it meanwhile is held in memory. Seconds of
 * moving a mouse, and more than anybody types.
 */
const MOST_UNDER_WAY = 1_000

/** What goes to whatever has the focus. */
const TYPING = new Set<PageMessage['type']>(['key', 'text', 'composition', 'clear'])

/**
 * Carries out what a visitor does on one page, in order: what follows a change of a field waits until that is done, and what is typed after a
 * press waits until the page has taken that (for as long as a page is given to answer). The browser hands a key to the frame that has the focus
 * at that moment, and a press in another site's frame moves it only when that frame's own process has come round to it, and the browser has heard of that.
 */
export function createPageInput({
  cdp,
  fields,
  dialogs,
  scale,
  clock,
  tell,
}: {
  cdp: CDPSession
  fields: Fields
  dialogs: Dialogs
  /** Device pixels of the remote screen to one CSS pixel. */
  scale: number
  clock: Pick<Clock, 'timer'>
  tell: (message: FarmMessage) => void
}): (message: PageMessage) => void {
  /** Changes of fields, what is typed after a press, and what came after them. */
  let waiting = 0
  /** The last press that the page has not taken yet. */
  let press: Promise<unknown> | undefined
  let underWay = 0
  let last: Promise<unknown> = Promise.resolve()

  const carryOut = async (message: PageMessage): Promise<void> => {
    if (TYPING.has(message.type)) await press
    if (message.type === 'edit') {
      await fields.edit(message)
      tell(await fields.focus())
    } else if (message.type === 'pick') await fields.pick(message)
    else if (message.type === 'copy') tell({ type: 'copied', text: await fields.selection() })
    // Whatever comes next need not wait until the page has taken it.
    else dispatch(message)
  }
  const dispatch = (message: PageMessage): void => {
    const taken = count(dispatchInput({ cdp, message, scale }))
    if (message.type !== 'mouse' || message.action !== 'down') return
    const mine = answerOf(taken.then(fields.agreed), clock).finally(() => {
      if (press === mine) press = undefined
    })
    press = mine
  }
  const count = (work: Promise<unknown>): Promise<unknown> => {
    underWay++
    return work.catch(() => undefined).finally(() => underWay--)
  }
  return (message) => {
    // A page that a dialog holds up does nothing until it is answered.
    if (message.type === 'answer') return dialogs.answer(message)
    if (underWay >= MOST_UNDER_WAY) return
    const { type } = message
    const waits = type === 'edit' || type === 'pick' || (press !== undefined && TYPING.has(type))
    if (type === 'copy' || (waiting === 0 && !waits)) return void count(carryOut(message))
    waiting++
    last = count(last.then(() => carryOut(message))).finally(() => waiting--)
  }
}
