import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip, gzipSync } from 'node:zlib'
import type { ExtractedConversation, FileReference } from '../../provider/branch.ts'
import type { JsonObject } from '../../provider/values.ts'
import type { Conversation } from '../../schemas/archive/conversation.ts'
import { INLINE_BYTES } from '../../schemas/archive/conversation-part.ts'
import { LONGEST_TITLE } from '../../wire/conversations.ts'

const compress = promisify(gzip)
/** Text barely gets smaller with more effort or memory, and takes several times as long. */
const COMPRESSION = { level: constants.Z_BEST_SPEED, memLevel: 7, windowBits: 14 }
/** Compressed at once below this, which is faster than the way to another thread and back. */
const COMPRESSED_IN_PLACE = 64 * 1024

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
  /** Its text, gzip where it is the provider's own. */
  body: { payload?: string; raw?: Buffer }
  /** What is too large for one document. */
  oversize: { kind: 'payload' | 'raw'; bytes: Buffer }[]
  files: FileReference[]
  /** About as much memory as it takes. */
  bytes: number
}

export const later = (a: Date | null, b: Date | null): Date | null => (!a ? b : !b ? a : a > b ? a : b)

export async function prepare({ extracted, listedUpdateTime, ...incoming }: Incoming): Promise<Prepared> {
  const payload = JSON.stringify({ title: extracted.title, messages: extracted.messages })
  const payloadBytes = Buffer.byteLength(payload)
  const raw = incoming.gzipped ?? (await compressed(incoming))
  const oversize: Prepared['oversize'] = []
  if (payloadBytes > INLINE_BYTES) oversize.push({ kind: 'payload', bytes: Buffer.from(payload) })
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
      ...(payloadBytes <= INLINE_BYTES && { payload }),
      ...(raw.length <= INLINE_BYTES && { raw }),
    },
    oversize,
    files: extracted.files,
    bytes: payloadBytes + raw.length,
  }
}

/** Not between the halves of one character. */
const cut = (title: string): string =>
  title.length > LONGEST_TITLE ? title.slice(0, LONGEST_TITLE).replace(/[\ud800-\udbff]$/, '') : title

async function compressed({
  raw,
  body = Buffer.from(JSON.stringify(raw)),
}: Pick<Incoming, 'raw' | 'body'>): Promise<Buffer> {
  return body.length < COMPRESSED_IN_PLACE ? gzipSync(body, COMPRESSION) : await compress(body, COMPRESSION)
}
