import { type Entry, fromFdPromise, type ZipFile } from 'yauzl'
import { parseJson } from '../core/json.ts'
import { ExportError } from './errors.ts'

/** A ratio says little about a small entry, and a small one can do no harm. */
const RATIO_MATTERS_FROM_BYTES = 16 * 1024 * 1024
const MAX_USER_BYTES = 1024 * 1024
const DEFLATED = 8
const STORED = 0

export interface ZipLimits {
  maxEntries: number
  /** Of the entries that are read, all together. */
  maxInflatedBytes: number
  /** Inflated size of one entry to its size in the zip. */
  maxRatio: number
}

/** The entries of an account export that are read. */
interface ExportEntries {
  /** `conversations.json`, then `conversations-000.json`, … by number. */
  conversations: Entry[]
  user: Entry | null
}

/**
 * Reads the zip of an open file, which stays open, and hands it to `use`. What the zip library finds wrong becomes an
 * `ExportError`; errors of the file system and the reason of `signal` stay what they are.
 */
export async function* withZip<T>({
  fd,
  signal,
  use,
}: {
  fd: number
  signal: AbortSignal | undefined
  use: (zip: ZipFile) => AsyncGenerator<T>
}): AsyncGenerator<T> {
  try {
    // Never closed: that would close the file.
    yield* use(await fromFdPromise(fd, { autoClose: false }))
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof ExportError || !(error instanceof Error) || 'syscall' in error) throw error
    throw new ExportError(`the zip is damaged: ${error.message}`)
  }
}

/**
 * Finds what is read, by the names in the zip's directory; no name is ever used as a path. The export may lie in a folder:
 * the one nearest to the top that holds conversations.
 */
export async function findEntries(zip: ZipFile, limits: ZipLimits): Promise<ExportEntries> {
  if (zip.entryCount > limits.maxEntries) throw new ExportError(`the zip holds more than ${limits.maxEntries} files`)
  const folders = new Map<string, { conversations: [number, Entry][]; user: Entry | null }>()
  for await (const entry of zip.eachEntry()) {
    const [, folder = '', name = ''] = /^(.*\/)?([^/]*)$/.exec(entry.fileName) ?? []
    const number = /^conversations(?:-(\d{1,9}))?\.json$/.exec(name)
    if (!number && name !== 'user.json') continue
    const found = folders.get(folder) ?? { conversations: [], user: null }
    folders.set(folder, found)
    if (number) found.conversations.push([Number(number[1] ?? -1), entry])
    else found.user = entry
  }
  const depthOf = (folder: string) => folder.split('/').length
  const candidates = [...folders].filter(([, { conversations }]) => conversations.length > 0)
  const depth = Math.min(...candidates.map(([folder]) => depthOf(folder)))
  const [chosen, another] = candidates.filter(([folder]) => depthOf(folder) === depth)
  if (!chosen) throw new ExportError('the zip holds no conversations.json')
  if (another) throw new ExportError('the zip holds more than one export')
  const [, { conversations, user }] = chosen
  const sorted = conversations.sort(([a], [b]) => a - b)
  if (new Set(sorted.map(([number]) => number)).size < sorted.length)
    throw new ExportError('the zip holds one file twice')
  const entries = { conversations: sorted.map(([, entry]) => entry), user }
  checkSizes(entries, limits)
  return entries
}

function checkSizes({ conversations, user }: ExportEntries, { maxInflatedBytes, maxRatio }: ZipLimits): void {
  let total = 0
  for (const entry of user ? [user, ...conversations] : conversations) {
    const { uncompressedSize, compressedSize } = entry
    if (entry.isEncrypted()) throw new ExportError('the zip is encrypted')
    if (![STORED, DEFLATED].includes(entry.compressionMethod))
      throw new ExportError('the zip uses an unknown compression')
    if (uncompressedSize > RATIO_MATTERS_FROM_BYTES && uncompressedSize > compressedSize * maxRatio) {
      throw new ExportError(`the zip is compressed more than ${maxRatio} times`)
    }
    total += uncompressedSize
  }
  if (total > maxInflatedBytes) throw new ExportError(`the zip inflates to more than ${maxInflatedBytes} bytes`)
  if (user && user.uncompressedSize > MAX_USER_BYTES) throw new ExportError('user.json is too large')
}

/** The bytes of an entry; the library ends the stream with an error when they are more or fewer than the directory says. */
export async function* entryBytes(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  const stream = await zip.openReadStreamPromise(entry)
  try {
    for await (const chunk of stream) {
      yield chunk as Buffer
    }
  } finally {
    stream.destroy()
  }
}

export async function readUserJson(zip: ZipFile, entry: Entry): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of entryBytes(zip, entry)) chunks.push(chunk)
  try {
    return parseJson(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new ExportError('user.json is not JSON that can be used')
  }
}
