import { SECOND, systemClock } from '../../../core/clock.ts'

/** Longer than any form of ours is answered in; whoever stopped the page meanwhile may send it again after that. */
const ANSWERED_MS = 15 * SECOND

/** Sends a form once: of a second click, while the answer is on its way, nothing comes. */
export function once(form: HTMLFormElement): void {
  const open = (): void => void delete form.dataset['sent']
  form.addEventListener('submit', (event) => {
    if (form.dataset['sent'] !== undefined) return event.preventDefault()
    form.dataset['sent'] = ''
    systemClock().timer(ANSWERED_MS, open)
  })
  // Back to a page that the browser had kept as it was.
  addEventListener('pageshow', open)
}
