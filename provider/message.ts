import { type Attachment, type FileReference, readAttachments, toFileReference } from './attachments.ts'
import { asId, asObject, asString, asTime, field, type JsonObject, plainCopy } from './values.ts'

/** One element of `payload.messages` (docs/behaviour.md, Message). Fields that the provider did not give are absent. */
export interface Message {
  role: 'user' | 'assistant' | 'tool'
  /** Empty when the message only carries attachments. */
  content: string
  /** ISO 8601, or null when the provider gave none. */
  timestamp: string | null
  id?: string
  contentType?: string
  model?: string
  status?: string
  endTurn?: boolean
  attachments?: Attachment[]
  contentReferences?: unknown[]
}

/** Deeper than any citation is, and shallow enough for every store and parser behind. */
const REFERENCE_DEPTH = 16

/**
 * One provider message as it is served, together with its files, or null where it is left out (docs/provider.md, Conversations): a system
 * message, a hidden one, an empty one, one without a known role.
 */
export function readMessage(raw: unknown): { message: Message; files: FileReference[] } | null {
  const source = asObject(raw)
  const role = field(asObject(field(source, 'author')), 'role')
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return null
  const metadata = asObject(field(source, 'metadata'))
  if (field(metadata, 'is_visually_hidden_from_conversation') === true) return null

  const content = asObject(field(source, 'content'))
  const parts = partsOf(content)
  const found = readAttachments(parts, metadata)
  const text = readText(content, parts)
  if (text === '' && found.length === 0) return null

  const message: Message = {
    role,
    content: text,
    timestamp: asTime(field(source, 'create_time'))?.toISOString() ?? null,
  }
  const id = asId(field(source, 'id'))
  if (id !== null) message.id = id
  const contentType = asString(field(content, 'content_type'))
  if (contentType) message.contentType = contentType
  const model = asString(field(metadata, 'model_slug'))
  if (model && role === 'assistant') message.model = model
  const status = asString(field(source, 'status'))
  if (status) message.status = status
  const endTurn = field(source, 'end_turn')
  if (typeof endTurn === 'boolean') message.endTurn = endTurn
  if (found.length > 0) message.attachments = found.map(({ attachment }) => attachment)
  const references = field(metadata, 'content_references')
  if (Array.isArray(references) && references.length > 0) {
    message.contentReferences = references.map((reference) => plainCopy(reference, REFERENCE_DEPTH))
  }
  return { message, files: found.map(toFileReference).filter((file) => file !== null) }
}

function partsOf(content: JsonObject | null): unknown[] {
  const parts = field(content, 'parts')
  return Array.isArray(parts) ? parts : []
}

/**
 * The text of a content object, whatever its type: the parts that are or hold text, one to a line; else the field that
 * known and observed types use for theirs (`code` and `execution_output`: `text`).
 */
function readText(content: JsonObject | null, parts: unknown[]): string {
  const pieces = parts.map((part) => asString(part) ?? asString(field(asObject(part), 'text')) ?? '')
  const joined = pieces.filter((piece) => piece !== '').join('\n')
  if (joined !== '') return joined
  for (const name of ['text', 'result', 'content', 'summary']) {
    const text = asString(field(content, name))
    if (text) return text
  }
  const thoughts = field(content, 'thoughts')
  if (!Array.isArray(thoughts)) return ''
  const texts = thoughts.map((thought) => {
    const object = asObject(thought)
    return asString(field(object, 'content')) || asString(field(object, 'summary')) || ''
  })
  return texts.filter((text) => text !== '').join('\n')
}
