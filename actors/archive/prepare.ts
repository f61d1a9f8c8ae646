import { hash } from 'node:crypto'
import { gzipPiece } from '../../core/gzip-pieces.ts'
import type { ExtractedConversation, FileReference } from '../../provider/branch.ts'
import type { JsonObject } from '../../provider/values.ts'
import type { Conversation } from '../../schemas/archive/conversation.ts'
import { INLINE_BYTES } from '../../schemas/archive/conversation-part.ts'
import { LONGEST_TITLE } from '../../wire/conversations.ts'

/** Of the objects that tell of one file, beside their texts. */
const FILE_BYTES = 128

/** One conversation as read from the provider or an export, beside the provider's own object. */
interface Incoming {
  extracted: ExtractedConversation
  raw: JsonObject
  /** The JSON text that it came in. */
  body?: Buffer
  /** That text as the provider compressed it. */
  gzipped?: Buffer
  /** The list's word on its last change, where it is newer than the body's. */
  listedUpdateTime?: Date | null
}

/** A conversation in the form that is stored. */
export interface Prepared {
  externalId: string
  fields: Pick<Conversation, 'title' | 'updateTime' | 'firstMessageAt' | 'hash'>
  /** Its text, gzip. */
  body: { payloadGzip?: Buffer; raw?: Buffer }
  /** What is too large for one document. */
  oversize: { kind: 'payload' | 'raw'; bytes: Buffer }[]
  files: FileReference[]
  /** About as much memory as it takes. */
  bytes: number
}

export const later = (a: Date | null, b: Date | null): Date | null => (!a ? b : !b ? a : a > b ? a : b)

export async function prepare({ extracted, listedUpdateTime, ...incoming }: Incoming): Promise<Prepared> {
  const payload = Buffer.from(JSON.stringify({ title: extracted.title, messages: extracted.messages }))
  const payloadGzip = payload.length <= INLINE_BYTES ? await gzipPiece(payload) : undefined
  const raw = incoming.gzipped ?? (await gzipPiece(incoming.body ?? JSON.stringify(incoming.raw)))
  const oversize: Prepared['oversize'] = []
  if (!payloadGzip) oversize.push({ kind: 'payload', bytes: payload })
  if (raw.length > INLINE_BYTES) oversize.push({ kind: 'raw', bytes: raw })
  return {
    externalId: extracted.externalId,
    fields: {
      title: extracted.title && cut(extracted.title),
      updateTime: later(extracted.updateTime, listedUpdateTime ?? null),
      firstMessageAt: extracted.firstMessageAt,
      hash: hash('sha256', payload, 'base64'),
    },
    body: {
      ...(payloadGzip && { payloadGzip }),
      ...(raw.length <= INLINE_BYTES && { raw }),
    },
    oversize,
    files: extracted.files,
    bytes: (payloadGzip ?? payload).length + raw.length + extracted.externalId.length + bytesOf(extracted.files),
  }
}

/** They are held as they are, however well the text that names them was compressed. */
const bytesOf = (files: FileReference[]): number =>
  files.reduce((sum, { assetPointer, name = '' }) => sum + FILE_BYTES + assetPointer.length + name.length, 0)

/** Not between the halves of one character. A copy, since a part of a string keeps the whole of it in memory. */
const cut = (title: string): string => {
  if (title.length <= LONGEST_TITLE) return title
  const start = title.slice(0, LONGEST_TITLE).replace(/[\ud800-\udbff]$/, '')
  return Buffer.from(start, 'utf16le').toString('utf16le')
}
