import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip, gzipSync } from 'node:zlib'
import type { ExtractedConversation, FileReference } from '../../provider/branch.ts'
import type { JsonObject } from '../../provider/values.ts'
import type { Conversation } from '../../schemas/conversation.ts'
import { INLINE_BYTES } from '../../schemas/conversation-part.ts'

const compress = promisify(gzip)
/** Text barely gets smaller with more effort or memory, and takes several times as long. */
const COMPRESSION = { level: constants.Z_BEST_SPEED, memLevel: 7, windowBits: 14 }
/** Compressed at once below this, which is faster than the way to another thread and back. */
const COMPRESSED_IN_PLACE = 64 * 1024

/** One conversation as read from the provider or an export, beside the provider's own object. */
export interface Incoming {
  extracted: ExtractedConversation
  /** The provider's own object, or the JSON text that it came in. */
  raw: JsonObject | Buffer
  /** The list's word on its last change, where it is newer than the body's. */
  listedUpdateTime?: Date | null
}

/** A conversation in the form that is stored. */
export interface Prepared {
  externalId: string
  fields: Pick<Conversation, 'title' | 'updateTime' | 'firstMessageAt' | 'payload' | 'hash' | 'raw'>
  /** What is too large for the document itself. */
  oversize: { kind: 'payload' | 'raw'; bytes: Buffer }[]
  files: FileReference[]
  /** About as much memory as it takes. */
  bytes: number
}

export const later = (a: Date | null, b: Date | null): Date | null => (!a ? b : !b ? a : a > b ? a : b)

export async function prepare({ extracted, raw, listedUpdateTime }: Incoming): Promise<Prepared> {
  const payload = JSON.stringify({ title: extracted.title, messages: extracted.messages })
  const text = Buffer.isBuffer(raw) ? raw : Buffer.from(JSON.stringify(raw))
  const payloadText = Buffer.from(payload)
  const compressed = text.length < COMPRESSED_IN_PLACE ? gzipSync(text, COMPRESSION) : await compress(text, COMPRESSION)
  const payloadBytes = payloadText.length
  const oversize: Prepared['oversize'] = []
  if (payloadBytes > INLINE_BYTES) oversize.push({ kind: 'payload', bytes: payloadText })
  if (compressed.length > INLINE_BYTES) oversize.push({ kind: 'raw', bytes: compressed })
  return {
    externalId: extracted.externalId,
    fields: {
      title: extracted.title,
      updateTime: later(extracted.updateTime, listedUpdateTime ?? null),
      firstMessageAt: extracted.firstMessageAt,
      payload: payloadBytes > INLINE_BYTES ? null : payload,
      hash: createHash('sha256').update(payloadText).digest('base64'),
      ...(compressed.length > INLINE_BYTES ? {} : { raw: compressed }),
    },
    oversize,
    files: extracted.files,
    bytes: payloadBytes + compressed.length,
  }
}
