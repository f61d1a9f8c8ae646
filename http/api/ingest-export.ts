import type { Request, Response } from 'express'
import { MINUTE } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import type { Caller } from '../../schemas/app/request-count.ts'
import { deleteExportUpload, storeExportUpload } from '../../schemas/archive/export-upload.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { awaitCommand, writeCommand } from '../../schemas/command/commands.ts'
import type { IngestAnswer, IngestRunning } from '../../wire/ingest-export.ts'
import { callerOf } from '../access/api-key.ts'
import { resultOf } from '../actions/command-result.ts'
import { inTime } from '../kit/deadline.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import type { ApiHandler } from './handler.ts'
import { findIngestTarget } from './ingest-target.ts'
import { openUpload } from './upload.ts'

const MAX_EXPORT_BYTES = 1024 ** 3
const LIMIT = '1 GiB'
/** Shorter than the five minutes after which common clients give up; a longer ingestion goes on. */
const WAIT_MS = 4 * MINUTE

/** POST /api/ingest-export: takes an export in as a stream and answers when the connection's actor has ingested all of it. */
export const postIngestExport =
  (runtime: HttpRuntime): ApiHandler<'ingestExport'> =>
  async ({ request, response }) => {
    const caller = callerOf(request)
    let stored: { connectionId: string; fileId: string }
    try {
      stored = await receive({ request, caller, runtime })
    } catch (error) {
      // What is still on its way is let go, so that the client comes to read the answer; the connection is not used again.
      request.unpipe()
      request.resume()
      response.set('Connection', 'close')
      throw error
    }
    const id = await begin({ ...stored, caller, runtime })
    const command = await awaitCommand<'ingest'>({ id, clock: runtime.clock, timeoutMs: WAIT_MS })
    return answer(response, { id, connectionId: stored.connectionId, command })
  }

/** GET /api/ingest-export/{ingestId}: how an ingestion that took longer than its request ended. */
export const getIngestExport: ApiHandler<'getIngestion'> = async ({ request, response, params }) => {
  const id = params.ingestId
  const command = isUuid(id)
    ? await Commands.findOne({ _id: id, appId: callerOf(request).appId, kind: 'ingest' }).lean<Command<'ingest'>>()
    : null
  if (!command) throw new ServiceError('not_found')
  const { connectionId } = command.args
  return answer(response, { id, connectionId, command: command.state === 'waiting' ? null : command })
}

async function receive({
  request,
  caller,
  runtime,
}: {
  request: Request
  caller: Caller
  runtime: HttpRuntime
}): Promise<{ connectionId: string; fileId: string }> {
  const { clock, keyring } = runtime
  const { appId } = caller
  if (Number(request.get('content-length') ?? 0) > MAX_EXPORT_BYTES) throw tooLarge()
  const upload = await openUpload(request)
  const fields = { ...request.query, ...upload.fields }
  const connectionId = await inTime(findIngestTarget({ appId, fields }), { clock })
  const { stream } = upload
  const { fileId } = await storeExportUpload({
    connectionId,
    stream,
    maxBytes: MAX_EXPORT_BYTES,
    limit: LIMIT,
    keyring,
  }).catch((error: unknown) => Promise.reject(upload.failure() ?? error))
  await upload.ended.catch(async (error: unknown) => {
    await deleteExportUpload({ fileId })
    throw error
  })
  return { connectionId, fileId }
}

const tooLarge = (): ServiceError => new ServiceError('body_too_large', { limit: LIMIT })

async function begin({
  connectionId,
  fileId,
  caller: { appId, by },
  runtime: { clock },
}: {
  connectionId: string
  fileId: string
  caller: Caller
  runtime: HttpRuntime
}): Promise<string> {
  const now = clock.now()
  try {
    return await writeCommand({ kind: 'ingest', appId, target: connectionId, by, args: { connectionId, fileId }, now })
  } catch (error) {
    await deleteExportUpload({ fileId }).catch(() => undefined)
    throw error
  }
}

function answer(
  response: Response,
  { id, connectionId, command }: { id: string; connectionId: string; command: Command<'ingest'> | null },
): IngestAnswer | IngestRunning {
  if (command) return { ok: true, ingestId: id, connectionId, ...resultOf(command) }
  response.status(202)
  return { ok: true, ingestId: id, state: 'running' }
}
