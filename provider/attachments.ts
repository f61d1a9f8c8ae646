import { asCount, asId, asObject, asString, field, type JsonObject } from './values.ts'

/** One of a message's `attachments` (docs/behaviour.md, Message): metadata only; a field that the provider did not give is absent. */
export interface Attachment {
  /** The part's content type (`image_asset_pointer`), or for a file that is no part its media type, else `file`. */
  type: string
  asset_pointer: string
  name?: string
  size_bytes?: number
  width?: number
  height?: number
}

/** One file of a message, as the adapter fetches it. */
export interface FileReference {
  fileId: string
  assetPointer: string
  name?: string
  sizeBytes?: number
}

interface Found {
  fileId: string | null
  attachment: Attachment
}

/**
 * The attachments of one message: parts with an asset pointer, merged by file id with `metadata.attachments` (which
 * knows names), and then those that appear in the metadata only. Parts come first, in their order.
 */
export function readAttachments(parts: unknown[], metadata: JsonObject | null): Found[] {
  const listed = field(metadata, 'attachments')
  // Most messages are text alone.
  if (!Array.isArray(listed) && parts.every((part) => typeof part === 'string')) return []
  const found: Found[] = []
  const byFile = new Map<string, Found>()
  const add = (entry: Found) => {
    found.push(entry)
    if (entry.fileId !== null) byFile.set(entry.fileId, entry)
  }
  for (const part of parts) {
    for (const holder of pointerHolders(part)) {
      const attachment = fromPart(holder)
      const fileId = fileIdOf(attachment.asset_pointer)
      if (fileId === null || !byFile.has(fileId)) add({ fileId, attachment })
    }
  }
  for (const item of Array.isArray(listed) ? listed : []) {
    const source = asObject(item)
    const fileId = asId(field(source, 'id'))
    if (source === null || fileId === null) continue
    const known = byFile.get(fileId)
    if (known) fill(known.attachment, source)
    else add({ fileId, attachment: fill(fromMetadata(fileId, source), source) })
  }
  return found
}

/** What the adapter has to fetch for attachments that were found. */
export function toFileReference({ fileId, attachment }: Found): FileReference | null {
  if (fileId === null) return null
  return {
    fileId,
    assetPointer: attachment.asset_pointer,
    ...(attachment.name !== undefined && { name: attachment.name }),
    ...(attachment.size_bytes !== undefined && { sizeBytes: attachment.size_bytes }),
  }
}

/** `file-service://file-abc` → `file-abc`; `sediment://hash#file_1#p_0.png` → `file_1`; null for what names no file. */
function fileIdOf(assetPointer: string): string | null {
  const path = /^[a-z][a-z0-9+.-]*:\/\/([^?]*)/i.exec(assetPointer)?.[1]
  if (path === undefined) return null
  const pieces = path.split('#').filter((piece) => piece !== '')
  return pieces.find((piece) => /^file[-_]/.test(piece)) ?? pieces[0] ?? null
}

/** The part itself or, for parts that wrap pointers (a recorded call), the objects one level below. */
function pointerHolders(part: unknown): JsonObject[] {
  const object = asObject(part)
  if (object === null) return []
  const candidates = [object, ...Object.values(object).map(asObject)]
  return candidates.filter((each): each is JsonObject => Boolean(asString(field(each, 'asset_pointer'))))
}

function fromPart(part: JsonObject): Attachment {
  return fill(
    {
      type: asString(field(part, 'content_type')) ?? 'file',
      asset_pointer: asString(field(part, 'asset_pointer')) ?? '',
    },
    part,
  )
}

function fromMetadata(fileId: string, source: JsonObject): Attachment {
  const mediaType = asString(field(source, 'mime_type')) ?? asString(field(source, 'mimeType'))
  return { type: mediaType || 'file', asset_pointer: `file-service://${fileId}` }
}

/** Adds what `source` knows and the attachment does not know yet. */
function fill(attachment: Attachment, source: JsonObject): Attachment {
  const name = asString(field(source, 'name'))
  if (name && attachment.name === undefined) attachment.name = name
  const size = asCount(field(source, 'size_bytes')) ?? asCount(field(source, 'size'))
  if (size !== null) attachment.size_bytes ??= size
  const width = asCount(field(source, 'width'))
  if (width !== null) attachment.width ??= width
  const height = asCount(field(source, 'height'))
  if (height !== null) attachment.height ??= height
  return attachment
}
