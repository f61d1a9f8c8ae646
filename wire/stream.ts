import { z } from 'zod'
import type { FlowReason } from './flow-ends.ts'
import { dialogAnswer, type RemoteDialog } from './remote-dialogs.ts'
import { choice, edit, type RemoteElement, type RemoteField, type RemotePicker } from './remote-fields.ts'
import { LONGEST_TEXT } from './stream-constants.ts'
import { viewportShape } from './viewport.ts'

/**
 * The stream between the farm node that holds a lease and the visitor's page, the same on both legs of the relay.
 *
 * Farm to page:
 * - binary: a part of a frame (`wire/frame.ts`), which is a JPEG. At most `FRAMES_IN_FLIGHT` frames are unacknowledged; what cannot be sent is replaced
 *   by what is newer.
 * - text: one JSON `FarmMessage`.
 *
 * Page to farm: text only, one JSON `PageMessage`. Coordinates are CSS pixels of the remote viewport. Anything else closes the socket.
 */
export type PageState = 'starting' | 'waiting' | 'live' | 'checking' | 'connected' | 'failed'

/** Why a flow waits: no browser is free, its browser was lost, or the service itself does not answer. */
type WaitReason = 'queue' | 'lost' | 'silent'

/** What passes, told beside the picture; the page has the words. */
export type Notice = 'restarted' | 'resumed' | 'outside' | 'unanswered' | 'no_download' | 'no_upload'

export interface StateMessage {
  type: 'state'
  state: PageState
  /** Why it waits or has failed; absent: the state says it all. */
  reason?: WaitReason | FlowReason
  /** Where it stands among those that wait for a browser, from 1 on, and about how long that takes, where it is known. */
  queue?: { place: number; minutes?: number }
  /** A failure after which the same flow may be tried again. */
  mayRetry?: true
}

export type FarmMessage =
  | StateMessage
  /** `detail`: the host that was not opened. */
  | { type: 'notice'; notice: Notice; detail?: string }
  /** Where the remote screen is: its host with a port that is not the scheme's own, empty where it is nowhere. */
  | { type: 'address'; host: string; secure: boolean; popup: boolean }
  /** Whether a text field has the remote focus, and whether it hides what is typed. */
  | FocusMessage
  /** What the browser would draw over the remote page; absent: nothing any more. */
  | { type: 'picker'; picker?: RemotePicker }
  | { type: 'dialog'; dialog: RemoteDialog }
  /** It was answered, or its page is gone. */
  | { type: 'dialog-closed'; id: string }
  /** What is selected on the remote page, as it was asked for. */
  | { type: 'copied'; text: string }
  /** Input up to this number of the page has come. */
  | { type: 'received'; page: string; number: number }
  /** Which remote browser this is: input that was meant for another one must not reach it. */
  | { type: 'screen'; id: string }
  /** A sign of life, every `BEAT_MS`. */
  | { type: 'alive' }

export interface FocusMessage {
  type: 'focus'
  editable: boolean
  hidden: boolean
  /** Whatever has it: a button too. */
  element?: RemoteElement
  field?: RemoteField
  /** Number of the edit that this is the outcome of. */
  edit?: number
}

const coordinate = z.number().min(-10_000).max(10_000)
/** Bits: see stream-constants.ts. */
const modifiers = z.int().min(0).max(15)
const keyText = z.string().max(32)

const mouse = z.strictObject({
  type: z.literal('mouse'),
  action: z.enum(['move', 'down', 'up']),
  x: coordinate,
  y: coordinate,
  button: z.enum(['none', 'left', 'middle', 'right']),
  /** Held buttons, as in `MouseEvent.buttons`. */
  buttons: z.int().min(0).max(31),
  clicks: z.int().min(0).max(3),
  modifiers,
})

const wheel = z.strictObject({
  type: z.literal('wheel'),
  x: coordinate,
  y: coordinate,
  deltaX: coordinate,
  deltaY: coordinate,
  modifiers,
})

const touch = z.strictObject({
  type: z.literal('touch'),
  action: z.enum(['start', 'move', 'end', 'cancel']),
  /** Fingers on the screen after the event. */
  points: z.array(z.strictObject({ id: z.int().min(0).max(1_000_000), x: coordinate, y: coordinate })).max(10),
  modifiers,
})

const key = z.strictObject({
  type: z.literal('key'),
  action: z.enum(['down', 'up']),
  /** As in `KeyboardEvent`. */
  key: keyText,
  code: keyText,
  keyCode: z.int().min(0).max(255),
  location: z.int().min(0).max(3),
  repeat: z.boolean(),
  modifiers,
  /** What the key types, if anything. */
  text: z.string().max(8).optional(),
})

/** What a lost connection must neither lose nor repeat. */
const input = z.discriminatedUnion('type', [
  mouse,
  wheel,
  touch,
  key,
  /** Text that is entered as a whole: pasted, sent by the typing bar, or the end of a composition. */
  z.strictObject({ type: z.literal('text'), text: z.string().max(LONGEST_TEXT) }),
  /** What an input method shows so far. */
  z.strictObject({ type: z.literal('composition'), text: z.string().max(1_000) }),
  /** Empties the field that has the remote focus. */
  z.strictObject({ type: z.literal('clear') }),
  edit,
  choice,
  dialogAnswer,
])

const pageMessage = z.discriminatedUnion('type', [
  ...input.options,
  /** Input with its number: the service carries each out once, in order, also where the page sends it again. */
  z.strictObject({ type: z.literal('input'), page: z.string().min(1).max(40), number: z.int().min(1), input }),
  /** The remote screen is to have this size; its sharpness and kind stay. */
  z.strictObject({ type: z.literal('viewport'), viewport: viewportShape }),
  /** Asks for what is selected on the remote page. */
  z.strictObject({ type: z.literal('copy') }),
  /** Closes the second window that is shown. */
  z.strictObject({ type: z.literal('close-window') }),
  z.strictObject({ type: z.literal('ack'), frame: z.int().min(0) }),
  /** A hidden page is sent no frames. */
  z.strictObject({ type: z.literal('visibility'), visible: z.boolean() }),
])

export type PageMessage = z.infer<typeof pageMessage>
export type InputMessage = z.infer<typeof input>
export type MouseMessage = z.infer<typeof mouse>
export type KeyMessage = z.infer<typeof key>

/** A page's message, or null for anything that is none. */
export function readPageMessage(text: string): PageMessage | null {
  try {
    const parsed = pageMessage.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}
