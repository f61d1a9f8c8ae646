import type { FileHandle } from 'node:fs/promises'
import type { ZipFile } from 'yauzl'
import { ExportError } from './errors.ts'
import { entryBytes, findEntries, readUserJson, withZip, type ZipLimits } from './export-zip.ts'
import { splitJsonArray } from './json-array.ts'
import { asId, asObject, asString, field, type JsonObject } from './values.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
/** A local file header, or the end record of a zip without entries. */
const ZIP_SIGNATURES = ['504b0304', '504b0506']

export interface ExportLimits extends ZipLimits {
  /** Of one conversation's JSON. */
  maxConversationBytes: number
}

const EXPORT_LIMITS: ExportLimits = {
  maxEntries: 200_000,
  maxInflatedBytes: 16 * GIB,
  maxRatio: 400,
  maxConversationBytes: 64 * MIB,
}

export interface AccountExport {
  /** The account that the export is of, where it says so (`user.json`). */
  account: { id: string | null; email: string | null } | null
  /**
   * The provider's conversation objects, each with an id and a mapping, read as they are asked for. May be iterated again,
   * for example once to check all of them before the first is stored.
   */
  conversations: AsyncIterable<JsonObject>
}

/**
 * Reads an account export (docs/provider.md, Account export): a zip, or the JSON array of conversations itself. The file has to
 * stay open while it is read, and is not closed. Throws `ExportError`, at once or while iterating, with the reason for what is no export,
 * is damaged or is beyond the limits; memory is bounded by one conversation. `signal` ends the reading with its reason.
 */
export async function readExport({
  file,
  limits: given = {},
  signal,
}: {
  file: FileHandle
  limits?: Partial<ExportLimits>
  signal?: AbortSignal
}): Promise<AccountExport> {
  const limits = { ...EXPORT_LIMITS, ...given }
  const zip = await isZip(file)
  const account = zip ? await readAccount({ file, limits, signal }) : null

  async function* elements(): AsyncGenerator<unknown> {
    if (!zip) yield* read(bytesOf(file))
    else yield* withZip({ fd: file.fd, signal, use: zippedElements })
  }
  async function* zippedElements(opened: ZipFile): AsyncGenerator<unknown> {
    for (const entry of (await findEntries(opened, limits)).conversations) yield* read(entryBytes(opened, entry))
  }
  async function* read(bytes: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
    yield* splitJsonArray({ source: until(signal, bytes), maxElementBytes: limits.maxConversationBytes })
  }
  async function* conversations(): AsyncGenerator<JsonObject> {
    let number = 0
    for await (const element of elements()) yield asConversation(element, ++number)
  }
  return { account, conversations: { [Symbol.asyncIterator]: conversations } }
}

/** A stream of the library would close the file where its reader stops early. */
async function* bytesOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(MIB), position })
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}

async function* until(signal: AbortSignal | undefined, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    signal?.throwIfAborted()
    yield chunk
  }
}

async function isZip(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(1024), position: 0 })
  const start = buffer.subarray(0, bytesRead)
  if (ZIP_SIGNATURES.includes(start.subarray(0, 4).toString('hex'))) return true
  const text = start
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()
  if (text === '' && bytesRead < buffer.length) throw new ExportError('it is empty')
  if (text !== '' && !text.startsWith('[')) throw new ExportError('it is neither a zip nor a JSON array')
  return false
}

async function readAccount({
  file,
  limits,
  signal,
}: {
  file: FileHandle
  limits: ExportLimits
  signal: AbortSignal | undefined
}): Promise<AccountExport['account']> {
  async function* use(zip: ZipFile): AsyncGenerator<JsonObject | null> {
    const { user } = await findEntries(zip, limits)
    yield user ? asObject(await readUserJson(zip, user)) : null
  }
  for await (const user of withZip({ fd: file.fd, signal, use })) {
    const id = asId(field(user, 'id'))
    const email = asString(field(user, 'email'))
    return id === null && email === null ? null : { id, email }
  }
  return null
}

/** Tells conversations of this provider's shape from other JSON arrays, such as another assistant's export. */
function asConversation(element: unknown, number: number): JsonObject {
  const object = asObject(element)
  const named = asId(field(object, 'id')) ?? asId(field(object, 'conversation_id'))
  if (object === null || named === null || !Object.hasOwn(object, 'mapping')) {
    throw new ExportError(`element ${number} of the array is no conversation of this provider`)
  }
  return object
}
