import type { Frame, Page } from 'playwright'

/** What the typing bar needs to know of the remote focus. */
export interface FocusHint {
  /** A text field has it. */
  editable: boolean
  /** That field hides what is typed. */
  hidden: boolean
}

const NOT_TEXT = ['button', 'checkbox', 'color', 'file', 'hidden', 'image', 'radio', 'range', 'reset', 'submit']

/** Null where the page cannot say (it is navigating, or it is gone). */
export async function readFocus(page: Page): Promise<FocusHint | null> {
  for (const frame of page.frames()) {
    const hint = await look(frame).catch(() => null)
    if (hint) return hint
  }
  return page.isClosed() ? null : { editable: false, hidden: false }
}

/** Null where the focus is not in this frame itself. Runs in the page. */
const look = (frame: Frame): Promise<FocusHint | null> =>
  frame.evaluate((notText) => {
    if (!document.hasFocus()) return null
    let element = document.activeElement
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    if (!element || element instanceof HTMLIFrameElement) return null
    if (element instanceof HTMLInputElement) {
      return notText.includes(element.type) ? null : { editable: true, hidden: element.type === 'password' }
    }
    const editable =
      element instanceof HTMLTextAreaElement || (element instanceof HTMLElement && element.isContentEditable)
    return editable ? { editable, hidden: false } : null
  }, NOT_TEXT)
