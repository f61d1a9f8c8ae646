import type { CDPSession, Page } from 'playwright'
import { z } from 'zod'
import { type Clock, SECOND } from '../core/clock.ts'
import {
  type ChoiceMessage,
  type EditMessage,
  type RemoteElement,
  type RemotePicker,
  remoteElement,
  remoteField,
  remotePicker,
} from '../wire/remote-fields.ts'
import type { FarmMessage, FocusMessage } from '../wire/stream.ts'
import { answerOf } from './answer-of.ts'
import type { InPage } from './in-page/watch.ts'
import { type World, watchWorlds } from './worlds.ts'

/** What a visitor does lets a page open a window, as their own key or click would; a look at the page does not. */
const GESTURES: (keyof InPage)[] = ['editField', 'pick']

/** A list may be as long as a picture is large, and a page may open it as often as it likes: it is told once in so long (machine time). */
const PICKER_MS = 100

/** A frame of another site takes the focus in its own process, and the browser tells the others: they have that long (machine time), */
const AGREED_MS = SECOND
/** and are asked so often. */
const AGREE_LOOK_MS = 10

const NOWHERE = { editable: false, hidden: false, element: undefined, field: undefined }

const focus = z
  .object({
    editable: z.boolean(),
    hidden: z.boolean(),
    element: remoteElement,
    field: remoteField.optional(),
  })
  .nullable()
const told = z.discriminatedUnion('type', [
  z.object({ type: z.literal('focus') }),
  z.object({ type: z.literal('picker'), picker: remotePicker.nullable() }),
])

/** The fields of one page, in all of its frames. */
export interface Fields {
  /** What has the focus. */
  focus(): Promise<FocusMessage>
  edit(message: EditMessage): Promise<void>
  pick(message: ChoiceMessage): Promise<void>
  selection(): Promise<string>
  /** Resolves once its frames agree on which of them has the focus, in `AGREED_MS` at the latest. */
  agreed(): Promise<void>
  /** The page has another size: its focused field stays in sight, and what is drawn over it at its place. */
  follow(): Promise<void>
}

export async function watchFields({
  page,
  cdp,
  clock,
  tell,
  onFocus,
}: {
  page: Page
  cdp: CDPSession
  clock: Clock
  tell: (message: FarmMessage) => void
  /** It may have moved. */
  onFocus: () => void
}): Promise<Fields> {
  /** The last picker of the page, and where it is. */
  let picker: RemotePicker | null = null
  let pickerWorld: World | undefined
  let lastEdit: number | undefined

  const soon = newestOnly({ clock, everyMs: PICKER_MS })

  const onTold = (text: string, world: World): void => {
    const parsed = told.safeParse(JSON.parse(text))
    if (!parsed.success) return
    if (parsed.data.type === 'focus') {
      onFocus()
      return
    }
    const next = parsed.data.picker
    // A frame that has lost the focus closes its own, not the one that the next frame has opened.
    if (!next && pickerWorld !== world) return
    picker = next
    pickerWorld = world
    soon(() => void show(next, world))
  }
  const show = async (next: RemotePicker | null, world: World): Promise<void> => {
    const placed = next && { ...next, rectangle: await onPage(next.rectangle, world) }
    if (picker === next) tell({ type: 'picker', ...(placed && { picker: placed }) })
  }
  const worlds = await watchWorlds({ page, cdp, onTold })
  const onPage = async (rectangle: RemoteElement['rectangle'], world: World): Promise<RemoteElement['rectangle']> => {
    const { x, y } = (await answerOf(worlds.placeOf(world), clock)) ?? { x: 0, y: 0 }
    return { ...rectangle, x: rectangle.x + x, y: rectangle.y + y }
  }

  const call = async ({ id, cdp: part }: World, name: keyof InPage, ...args: unknown[]): Promise<unknown> => {
    const answer = part.send('Runtime.callFunctionOn', {
      functionDeclaration: `(...args) => globalThis.farmTools.${name}(...args)`,
      arguments: args.map((value) => ({ value })),
      executionContextId: id,
      returnByValue: true,
      userGesture: GESTURES.includes(name),
    })
    return (await answerOf(answer, clock))?.result.value
  }
  /** What the first of the worlds says that has anything to say. */
  const ask = async (name: keyof InPage): Promise<{ answer?: unknown; world?: World }> => {
    const answers = await Promise.all(worlds.all().map(async (world) => ({ answer: await call(world, name), world })))
    return answers.find(({ answer }) => Boolean(answer)) ?? {}
  }
  const everywhere = async (name: keyof InPage, ...args: unknown[]): Promise<void> => {
    await Promise.all(worlds.all().map((world) => call(world, name, ...args)))
  }
  return {
    focus: async () => {
      const edit = lastEdit
      const { answer = null, world } = await ask('describeFocus')
      const parsed = focus.safeParse(answer)
      const { editable, hidden, element: inFrame, field } = (parsed.success && parsed.data) || NOWHERE
      const element = inFrame && world && { ...inFrame, rectangle: await onPage(inFrame.rectangle, world) }
      return {
        type: 'focus',
        editable,
        hidden,
        ...(element && { element }),
        ...(field && { field }),
        ...(edit !== undefined && { edit }),
      }
    },
    // Only the frame with the focus does it.
    edit: async ({ field, number, start, end, text, caret }) => {
      await everywhere('editField', field, start, end, text, caret)
      lastEdit = number
    },
    pick: async ({ id, indexes, value }) => {
      if (pickerWorld !== undefined) await call(pickerWorld, 'pick', id, indexes ?? null, value ?? null)
    },
    selection: async () => String((await ask('selectedText')).answer ?? ''),
    agreed: async () => {
      const end = clock.elapsed() + AGREED_MS
      while (worlds.areApart() && clock.elapsed() < end) {
        const claims = await Promise.all(worlds.all().map((world) => call(world, 'hasFocus')))
        if (claims.filter(Boolean).length <= 1) return
        await clock.sleep(AGREE_LOOK_MS)
      }
    },
    follow: async () => {
      await everywhere('reveal')
      if (picker && pickerWorld) await call(pickerWorld, 'tellPicker')
    },
  }
}

/** Does what it is given at once, and within `everyMs` (machine time) of that only the last of what else it was given, at its end. */
function newestOnly({ clock, everyMs }: { clock: Clock; everyMs: number }): (work: () => void) => void {
  let isWaiting = false
  let newest: (() => void) | undefined
  const go = (work: () => void): void => {
    work()
    isWaiting = true
    clock.timer(everyMs, () => {
      const next = newest
      newest = undefined
      isWaiting = false
      if (next) go(next)
    })
  }
  return (work) => {
    if (isWaiting) newest = work
    else go(work)
  }
}
