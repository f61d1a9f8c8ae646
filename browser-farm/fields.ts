import type { CDPSession } from 'playwright'
import { z } from 'zod'
import { type Clock, SECOND } from '../core/clock.ts'
import { within } from '../core/within.ts'
import { type ChoiceMessage, type EditMessage, remoteField, remotePicker } from '../wire/remote-fields.ts'
import type { FarmMessage, FocusMessage } from '../wire/stream.ts'
import { IN_PAGE_SOURCE } from './in-page/source.ts'
import type { InPage } from './in-page/watch.ts'

/** An isolated world shares a page's document and nothing of its script: the page can neither call our functions nor speak for them. */
const WORLD = 'farm'
const BINDING = 'tellFarm'
/** A page that does not answer is busy, or holds everything up with a dialog. */
const ANSWER_MS = 2 * SECOND

const NOWHERE = { editable: false, hidden: false, field: undefined }

const focus = z.object({ editable: z.boolean(), hidden: z.boolean(), field: remoteField.optional() }).nullable()
const told = z.discriminatedUnion('type', [
  z.object({ type: z.literal('focus') }),
  z.object({ type: z.literal('picker'), picker: remotePicker.nullable() }),
])

/** The fields of one page, in all of its frames that its own process shows. */
export interface Fields {
  /** Which text field has the focus. */
  focus(): Promise<FocusMessage>
  edit(message: EditMessage): Promise<void>
  pick(message: ChoiceMessage): Promise<void>
  selection(): Promise<string>
  /** Brings the focused field in sight. */
  reveal(): Promise<void>
}

export async function watchFields({
  cdp,
  clock,
  tell,
  onFocus,
}: {
  cdp: CDPSession
  clock: Clock
  tell: (message: FarmMessage) => void
  /** It may have moved. */
  onFocus: () => void
}): Promise<Fields> {
  const worlds = new Set<number>()
  let pickerWorld: number | undefined
  let lastEdit: number | undefined

  const listen = (payload: string, world: number): void => {
    const parsed = told.safeParse(JSON.parse(payload))
    if (!parsed.success) return
    if (parsed.data.type === 'focus') {
      onFocus()
      return
    }
    const { picker } = parsed.data
    if (picker) pickerWorld = world
    tell({ type: 'picker', ...(picker && { picker }) })
  }
  cdp.on('Runtime.executionContextCreated', ({ context: { id, name } }) => {
    if (name === WORLD) worlds.add(id)
  })
  cdp.on('Runtime.executionContextDestroyed', ({ executionContextId }) => worlds.delete(executionContextId))
  cdp.on('Runtime.executionContextsCleared', () => worlds.clear())
  cdp.on('Runtime.bindingCalled', ({ name, payload, executionContextId }) => {
    if (name === BINDING && worlds.has(executionContextId)) listen(payload, executionContextId)
  })
  await cdp.send('Runtime.enable')
  await cdp.send('Runtime.addBinding', { name: BINDING, executionContextName: WORLD })
  await cdp.send('Page.enable')
  await cdp.send('Page.addScriptToEvaluateOnNewDocument', {
    source: IN_PAGE_SOURCE,
    worldName: WORLD,
    runImmediately: true,
  })

  const call = async (world: number, name: keyof InPage, ...args: unknown[]): Promise<unknown> => {
    const answer = cdp.send('Runtime.callFunctionOn', {
      functionDeclaration: `(...args) => globalThis.farmTools.${name}(...args)`,
      arguments: args.map((value) => ({ value })),
      executionContextId: world,
      returnByValue: true,
      userGesture: true,
    })
    const late = () => new Error('the page does not answer')
    // A world that is gone has nothing to say, nor has one that is busy.
    const value = await within(ANSWER_MS, answer, { clock, late }).catch(() => undefined)
    return value?.result.value
  }
  /** What the first of the worlds says that has anything to say. */
  const ask = async (name: keyof InPage): Promise<unknown> => {
    const answers = await Promise.all([...worlds].map((world) => call(world, name)))
    return answers.find(Boolean)
  }
  const everywhere = async (name: keyof InPage, ...args: unknown[]): Promise<void> => {
    await Promise.all([...worlds].map((world) => call(world, name, ...args)))
  }
  return {
    focus: async () => {
      const edit = lastEdit
      const parsed = focus.safeParse((await ask('describeFocus')) ?? null)
      const { editable, hidden, field } = (parsed.success && parsed.data) || NOWHERE
      return { type: 'focus', editable, hidden, ...(field && { field }), ...(edit !== undefined && { edit }) }
    },
    // Only the frame with the focus does it.
    edit: async ({ field, number, start, end, text, caret }) => {
      await everywhere('editField', field, start, end, text, caret)
      lastEdit = number
    },
    pick: async ({ id, indexes, value }) => {
      if (pickerWorld !== undefined) await call(pickerWorld, 'pick', id, indexes ?? null, value ?? null)
    },
    selection: async () => String((await ask('selectedText')) ?? ''),
    reveal: () => everywhere('reveal'),
  }
}
