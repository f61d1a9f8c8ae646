import type { Readable } from 'node:stream'
import busboy from 'busboy'
import type { Request } from 'express'
import { ServiceError } from '../../core/errors.ts'

const FIELD_BYTES = 4 * 1_024
const MOST_FIELDS = 16

/** An upload that has begun: what was said of it so far, and its bytes. */
interface Upload {
  fields: Record<string, unknown>
  stream: Readable
  /** Resolves when the whole form was read. Where that breaks off, its stream fails too and `failure` says why. */
  ended: Promise<void>
  failure(): ServiceError | undefined
}

/** Finds the upload in a request: the file of a multipart form, or the body itself. Throws `ServiceError`. */
export async function openUpload(request: Request): Promise<Upload> {
  const encoding = request.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') throw new ServiceError('unsupported_media_type')
  if (/^multipart\//i.test(request.get('content-type') ?? '')) return openForm(request)
  return { fields: {}, stream: request, ended: Promise.resolve(), failure: () => undefined }
}

const brokenForm = (): ServiceError =>
  new ServiceError('invalid_parameter', { name: 'body', reason: 'is no multipart form' })

/** The first file of a form; only the fields before it are known by then. */
function openForm(request: Request): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const form = parserOf(request)
    const fields: Record<string, unknown> = Object.create(null)
    const ended = new Promise<void>((resolveEnd, rejectEnd) => {
      form.on('close', resolveEnd)
      form.on('error', () => rejectEnd(brokenForm()))
    })
    // Whoever waits for the file learns of it there.
    ended.catch(() => undefined)
    form.on('field', (name, value) => {
      fields[name] = Object.hasOwn(fields, name) ? [fields[name], value] : value
    })
    let failure: ServiceError | undefined
    form.on('file', (_name, stream) => {
      // It may fail before anybody reads it; an error that nobody listens to would end the process.
      stream.on('error', ({ message }: Error) => {
        if (message.startsWith('Unexpected end of')) failure = brokenForm()
      })
      resolve({ fields, stream, ended, failure: () => failure })
    })
    form.on('error', () => {
      failure = brokenForm()
      reject(failure)
    })
    form.on('close', () => reject(new ServiceError('no_export', { reason: 'the form holds no file' })))
    request.on('close', () => request.complete || form.destroy(new Error('the client went away')))
    request.pipe(form)
  })
}

function parserOf({ headers }: Request): busboy.Busboy {
  try {
    return busboy({
      headers,
      limits: { files: 1, fields: MOST_FIELDS, fieldSize: FIELD_BYTES, parts: MOST_FIELDS + 1 },
    })
  } catch {
    throw brokenForm()
  }
}
