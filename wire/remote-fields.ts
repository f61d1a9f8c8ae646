import { z } from 'zod'

/** Bounds of what a remote page may say of its own fields. */
const MOST_OPTIONS = 1_000
const LONGEST_LABEL = 200
const LONGEST_VALUE = 10_000

const label = z.string().max(LONGEST_LABEL)
const value = z.string().max(LONGEST_VALUE)

/** CSS pixels of the remote viewport. */
const rectangle = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() })

/** What has the remote focus. */
export const remoteElement = z.object({ id: z.string().max(40), rectangle })

/** The text field that has the remote focus. */
export const remoteField = z.object({
  id: z.string().max(40),
  /** It hides what is typed. */
  hidden: z.boolean(),
  /** What it holds; absent where only text can be added (rich text). */
  value: value.optional(),
  /** Selection, in UTF-16 units of the value. */
  start: z.int().min(0),
  end: z.int().min(0),
  inputMode: z.string().max(20),
  autocomplete: z.string().max(60),
  enterKeyHint: z.string().max(20),
})

/** What a browser draws over a page for a field: the list of a `<select>` or of a datalist, or a picker by the type of the input. */
const PICKER_KINDS = ['select', 'suggestions', 'date', 'time', 'datetime-local', 'month', 'week', 'color'] as const

export const remotePicker = z.object({
  id: z.string().max(40),
  kind: z.enum(PICKER_KINDS),
  label,
  rectangle,
  multiple: z.boolean(),
  options: z
    .array(z.object({ label, group: label.optional(), disabled: z.boolean(), selected: z.boolean() }))
    .max(MOST_OPTIONS),
  value,
  min: label,
  max: label,
  step: label,
})

export type RemoteElement = z.infer<typeof remoteElement>
export type RemoteField = z.infer<typeof remoteField>
export type RemotePicker = z.infer<typeof remotePicker>

/** What a visitor chose of a picker: entries by their place, a value as the input has it, or neither. */
export const choice = z.strictObject({
  type: z.literal('pick'),
  id: z.string().max(40),
  indexes: z.array(z.int().min(0).max(MOST_OPTIONS)).max(MOST_OPTIONS).optional(),
  value: z.string().max(40).optional(),
})

/** A change of what the field held: `text` in the place of what lay between `start` and `end`. */
export const edit = z.strictObject({
  type: z.literal('edit'),
  field: z.string().max(40),
  /** Counts the edits of a page, so that it knows which of them the field's next description has. */
  number: z.int().min(1),
  start: z.int().min(0).max(LONGEST_VALUE),
  end: z.int().min(0).max(LONGEST_VALUE),
  text: z.string().max(LONGEST_VALUE),
  caret: z
    .int()
    .min(0)
    .max(2 * LONGEST_VALUE),
})

export type ChoiceMessage = z.infer<typeof choice>
export type EditMessage = z.infer<typeof edit>
