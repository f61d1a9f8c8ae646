import type { WebSocket } from 'ws'
import { type Clock, MINUTE, SECOND, type Timer } from '../core/clock.ts'
import type { FarmMessage, Notice, PageMessage, PageState, StateMessage } from '../wire/stream.ts'
import { CLOSE_REPLACED } from '../wire/stream-constants.ts'
import { createInputOrder } from './input-order.ts'
import { BEST_QUALITY } from './link-quality.ts'
import { createViewer, type Picture, type Viewer } from './viewer.ts'

/** A flow that nobody watches for so long (service time) gives its browser up: it is somebody else's then. */
const UNWATCHED_MS = 10 * MINUTE
/** One whose page was closed does so earlier: a visitor who reads a code elsewhere leaves the page open. */
const LEFT_MS = 2 * MINUTE
/** However fast service time runs, a page gets this long (machine time) to connect again. */
const SHORTEST_UNWATCHED_MS = 5 * SECOND

/** Whoever watches one lease: at most one page, the newest. What it was told last is kept for the next one. */
export interface Audience {
  join(socket: WebSocket): void
  setState(state: PageState, more?: Pick<StateMessage, 'reason'>): void
  notify(notice: Notice, detail?: string): void
  tell(message: FarmMessage): void
  show(picture: Picture): void
  close(code: number): void
}

export function createAudience({
  clock,
  onInput,
  onWatching,
  onPresence,
  onQuality,
  onUnwatched,
}: {
  clock: Clock
  onInput: (message: PageMessage) => void
  /** Whether frames are wanted; true also for every new viewer. */
  onWatching: (watching: boolean) => void
  /** Whether a page shows the lease at all, hidden or not. */
  onPresence: (present: boolean) => void
  /** The quality (JPEG) that the viewer's link bears while the picture moves. */
  onQuality: (quality: number) => void
  onUnwatched: () => void
}): Audience {
  let viewer: Viewer | undefined
  let closedAs: number | undefined
  let state: FarmMessage = { type: 'state', state: 'starting' }
  let address: FarmMessage | undefined
  let notice: FarmMessage | undefined
  let timer: Timer
  const order = createInputOrder({ tell: (message) => viewer?.tell(message) })
  const dialogs = new Map<string, FarmMessage>()

  const wait = (ms: number): void => {
    timer = clock.timer(Math.max(clock.scaled(ms), SHORTEST_UNWATCHED_MS), onUnwatched)
  }
  const leave = (leaving: Viewer, { left }: { left: boolean }): void => {
    if (viewer !== leaving) return
    viewer = undefined
    onWatching(false)
    onPresence(false)
    if (closedAs === undefined) wait(left ? LEFT_MS : UNWATCHED_MS)
  }
  wait(UNWATCHED_MS)
  return {
    join: (socket) => {
      // The lease is just leaving: whoever comes now would look at nothing.
      if (closedAs !== undefined) return socket.close(closedAs)
      viewer?.close(CLOSE_REPLACED)
      timer.cancel()
      const joining: Viewer = createViewer({
        socket,
        clock,
        onInput: (message) => {
          if (viewer !== joining) return
          const next = order.next(message)
          if (next) onInput(next)
        },
        onQuality: (quality) => viewer === joining && onQuality(quality),
        onVisibility: () => viewer === joining && onWatching(joining.visible()),
        onClose: (how) => leave(joining, how),
      })
      viewer = joining
      onQuality(BEST_QUALITY)
      viewer.tell(order.screen())
      viewer.tell(state)
      if (address) viewer.tell(address)
      for (const dialog of dialogs.values()) viewer.tell(dialog)
      if (notice) viewer.tell(notice)
      notice = undefined
      onWatching(true)
      onPresence(true)
    },
    setState: (next, more = {}) => {
      // Another browser: what the one before it asked is nobody's to answer.
      if (next === 'starting') {
        order.renew()
        dialogs.clear()
        viewer?.tell(order.screen())
      }
      state = { type: 'state', state: next, ...more }
      viewer?.tell(state)
    },
    notify: (what, detail) => {
      const told: FarmMessage = { type: 'notice', notice: what, ...(detail !== undefined && { detail }) }
      if (viewer) viewer.tell(told)
      else notice = told
    },
    tell: (message) => {
      if (message.type === 'address') address = message
      if (message.type === 'dialog') dialogs.set(message.dialog.id, message)
      if (message.type === 'dialog-closed') dialogs.delete(message.id)
      viewer?.tell(message)
    },
    show: (picture) => viewer?.show(picture),
    close: (code) => {
      closedAs = code
      timer.cancel()
      viewer?.close(code)
    },
  }
}
