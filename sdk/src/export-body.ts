import type { RequestBody } from './request.ts'
import type { Repeatable } from './retry.ts'

/**
 * A provider's export: the zip or the JSON array. `openAsBlob(path)` of `node:fs` reads a large file without holding it in
 * memory; a stream works too, but cannot be sent a second time when the API asks to wait.
 */
export type ExportFile = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

type ExportBody = { body: RequestBody; contentType: string; repeatable: Repeatable }

const ZIP = 'application/zip'
const JSON_TYPE = 'application/json'

function toStream(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel(reason) {
      await iterator.return?.(reason)
    },
  })
}

/** The type that the first byte gives away: an array begins with a bracket (or blank), a zip with `PK`. */
function guessType(firstByte: number | undefined): string {
  return firstByte !== undefined && '[ \t\r\n'.includes(String.fromCharCode(firstByte)) ? JSON_TYPE : ZIP
}

/** A second upload after a failure half-way could report counts that mislead, so only a refusal (429) is repeated. */
export function exportBody(file: ExportFile, contentType?: string): ExportBody {
  if (typeof file === 'string') return { body: file, contentType: contentType ?? JSON_TYPE, repeatable: 'when-refused' }
  if (file instanceof Uint8Array) {
    // The copy is made only of memory that is shared between threads, which fetch does not take.
    const body = file.buffer instanceof ArrayBuffer ? (file as Uint8Array<ArrayBuffer>) : new Uint8Array(file)
    return { body, contentType: contentType ?? guessType(file[0]), repeatable: 'when-refused' }
  }
  if (file instanceof Blob) {
    return { body: file, contentType: contentType ?? (file.type || ZIP), repeatable: 'when-refused' }
  }
  const body = file instanceof ReadableStream ? file : toStream(file)
  return { body, contentType: contentType ?? ZIP, repeatable: 'never' }
}
