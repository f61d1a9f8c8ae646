import { find } from '../../kit/assets/dom.ts'

const canvas = find<HTMLCanvasElement>('canvas.screen')
const FOCUSABLE = 'a[href], button, input, select, summary, canvas.screen'

/** Takes the focus from the remote screen to what comes next in the page (F6), or before (Shift+F6). */
export function leaveScreen({ backwards }: { backwards: boolean }): void {
  const all = [...document.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (element) =>
      element === canvas || (element.checkVisibility() && element.tabIndex >= 0 && !element.matches(':disabled')),
  )
  const at = all.indexOf(canvas) + (backwards ? -1 : 1)
  const next = all[(at + all.length) % all.length]
  if (next && next !== canvas) next.focus()
  else (document.activeElement as HTMLElement | null)?.blur()
}
