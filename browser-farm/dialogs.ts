import { randomUUID } from 'node:crypto'
import type { Frame, Page } from 'playwright'
import { type Clock, MINUTE } from '../core/clock.ts'
import { parseUrl } from '../core/parse-url.ts'
import type { DialogAnswer, RemoteDialog } from '../wire/remote-dialogs.ts'
import type { FarmMessage } from '../wire/stream.ts'

/** A dialog holds its page up: an unanswered one is cancelled after this (machine time). */
const LONGEST_WAIT_MS = 2 * MINUTE
/** Words of a page's dialog that the visitor is shown. */
const LONGEST_DIALOG = 1_000
/** Pages that ask again and again are not heard for the rest of the lease, in however many windows: the visitor would never be done. */
const MOST_DIALOGS = 50

type Question = Omit<RemoteDialog, 'id'>

/** What remote pages ask, asked of the visitor. */
export interface Dialogs {
  /** The visitor's answer; null where nobody answered, or the page has gone. */
  ask(page: Page, question: Question): Promise<DialogAnswer | null>
  answer(message: DialogAnswer): void
  /** Nobody is asked any more. */
  stop(): void
}

export function createDialogs({ clock, tell }: { clock: Clock; tell: (message: FarmMessage) => void }): Dialogs {
  const open = new Map<string, (answer: DialogAnswer | null) => void>()
  let asked = 0
  let stopped = false
  return {
    ask: async (page, { kind, site, message, value }) => {
      asked += 1
      if (stopped || asked > MOST_DIALOGS || page.isClosed()) return null
      const id = randomUUID()
      const cancel = (): void => open.get(id)?.(null)
      const onNavigated = (frame: Frame): void => {
        if (frame === page.mainFrame()) cancel()
      }
      page.on('close', cancel)
      page.on('framenavigated', onNavigated)
      const timer = clock.timer(LONGEST_WAIT_MS, cancel)
      try {
        return await new Promise((resolve) => {
          open.set(id, resolve)
          const words = message.slice(0, LONGEST_DIALOG)
          tell({ type: 'dialog', dialog: { id, kind, site, message: words, value: value.slice(0, LONGEST_DIALOG) } })
        })
      } finally {
        open.delete(id)
        timer.cancel()
        page.off('close', cancel)
        page.off('framenavigated', onNavigated)
        tell({ type: 'dialog-closed', id })
      }
    },
    answer: (message) => open.get(message.id)?.(message),
    stop: () => {
      stopped = true
      for (const resolve of open.values()) resolve(null)
    },
  }
}

/** Puts the dialogs of a page's own scripts to the visitor. */
export function passDialogsOn({ page, dialogs }: { page: Page; dialogs: Dialogs }): void {
  page.on('dialog', async (dialog) => {
    const kind = dialog.type() as Exclude<RemoteDialog['kind'], 'sign-in'>
    const [site, message, value] = [parseUrl(page.url())?.host ?? '', dialog.message(), dialog.defaultValue()]
    const answer = await dialogs.ask(page, { kind, site, message, value })
    // Where nobody says otherwise, what was to be left is left.
    const accepted = answer?.accepted ?? kind === 'beforeunload'
    await (accepted ? dialog.accept(answer?.text) : dialog.dismiss()).catch(() => undefined)
  })
}
