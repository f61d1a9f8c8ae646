import { ServiceError } from '../../core/errors.ts'
import { extractConversation } from '../../provider/branch.ts'
import { ExportError, ExportTooLargeError } from '../../provider/errors.ts'
import { type AccountExport, readExport } from '../../provider/export.ts'
import type { JsonObject } from '../../provider/values.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import { deleteExportUpload, withExportFile } from '../../schemas/archive/export-upload.ts'
import { heldBy } from '../../schemas/claims.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { withEvents } from '../../schemas/outbox.ts'
import { emailHashOf } from '../../schemas/user/email-hash.ts'
import { countRun, cutShortEvents, importedEvents, inBrief } from '../archive/counts.ts'
import { type Prepared, prepare } from '../archive/prepare.ts'
import { leaveNothingBehind } from '../archive/purge-data.ts'
import { storeConversations, storedOf } from '../archive/store.ts'
import { accountIdOf } from '../connection/account.ts'
import { writeHeld } from '../connection/claimed.ts'
import { type Holding, waitForClaim } from '../connection/wait-for-claim.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { CommandWork } from './command-work.ts'
import { finishCommand } from './finish.ts'
import { NotYet } from './not-yet.ts'

/** Stored in one go: so many conversations or bytes of them. */
const BATCH_CONVERSATIONS = 100
const BATCH_BYTES = 4 * 1024 * 1024

/**
 * Ingests an uploaded account export into its connection's archive (docs/behaviour.md, POST /api/ingest-export). The whole export is checked before
 * the first conversation is stored, so that one which is no export changes nothing. The command is the run: taken up after a crash
 * it counts and tells the same.
 */
export async function ingest({ command, runtime, signal }: CommandWork<'ingest'>): Promise<void> {
  const { connectionId, fileId } = command.args
  try {
    const holding = await waitForClaim({ model: Connections, id: connectionId, runtime, signal })
    if (!holding) throw new ServiceError('connection_not_found')
    try {
      await ingestHeld({ command, runtime, signal: AbortSignal.any([signal, holding.signal]), holding })
    } catch (error) {
      throw await afterLoss(error, holding)
    } finally {
      await holding.release()
    }
  } catch (error) {
    if (error instanceof ServiceError) await deleteExportUpload({ fileId })
    throw error
  }
  await deleteExportUpload({ fileId })
}

/** Only a purge takes a connection from its holder: the caller is told that it is revoked. */
async function afterLoss(error: unknown, { document, signal }: Holding<Connection>): Promise<unknown> {
  if (error instanceof ExportTooLargeError) return new ServiceError('body_too_large', { limit: error.limit })
  if (error instanceof ExportError) return new ServiceError('no_export', { reason: error.message })
  if (!(error instanceof ClaimLost) && !signal.aborted) return error
  await leaveNothingBehind(document)
  const connection = await Connections.findById(document._id).select({ status: 1 }).lean<Pick<Connection, 'status'>>()
  return connection?.status === 'revoked' ? new ServiceError('connection_revoked') : error
}

async function ingestHeld({
  command,
  runtime,
  signal,
  holding,
}: CommandWork<'ingest'> & { holding: Holding<Connection> }): Promise<void> {
  const connection = holding.document
  const { archiveId } = connection
  if (connection.status === 'revoked' || !archiveId) throw new ServiceError('connection_revoked')
  const unchanged = await withExportFile({ fileId: command.args.fileId, keyring: runtime.keyring }, async (file) => {
    const given = await readExport({ file, signal })
    await checkAccount({ given, connection, command, runtime })
    for await (const raw of given.conversations) extractConversation(raw)
    await beginRun({ connection, command, runtime })
    return storeAll({ given, archiveId, command, runtime, held: holding })
  })
  const now = runtime.clock.now()
  const counts = await countRun({ archiveId, runId: command._id, unchanged })
  const events = importedEvents({ connection, runId: command._id, counts, at: now })
  await finishCommand({ command, result: counts, events, now })
  await Connections.updateOne(heldBy(connection), {
    $set: { 'sync.outcome': `export ingested ${inBrief(counts)}` },
    $unset: { 'sync.runId': 1 },
  })
}

/**
 * Makes the command the connection's run. One that was cut short tells first what it stored, since this one may write over it; one of
 * another ingestion that has still to be taken up goes first.
 */
async function beginRun({
  connection,
  command,
  runtime,
}: {
  connection: Connection
  command: Command<'ingest'>
  runtime: ActorRuntime
}): Promise<void> {
  const { runId } = connection.sync
  const other =
    runId && runId !== command._id ? await Commands.findById(runId).select({ state: 1 }).lean<Command>() : null
  if (other?.state === 'waiting') throw new NotYet('another ingestion has to end first')
  const now = runtime.clock.now()
  const untold = runId !== command._id && (!other || other.state === 'failed')
  const events = untold ? await cutShortEvents({ connection, at: now }) : []
  const begun = { $set: { 'sync.runId': command._id, 'sync.unchanged': 0 } }
  await writeHeld(connection, withEvents(begun, events, now))
}

async function storeAll({
  given,
  archiveId,
  command,
  runtime,
  held,
}: {
  given: AccountExport
  archiveId: string
  command: Command<'ingest'>
  runtime: ActorRuntime
  held: Holding<Connection>
}): Promise<number> {
  let unchanged = 0
  for await (const conversations of batches(given.conversations)) {
    await writeHeld(held.document, { $set: { 'sync.unchanged': unchanged } })
    const stored = await storedOf({ archiveId, externalIds: conversations.map(({ externalId }) => externalId) })
    const now = runtime.clock.now()
    const runId = command._id
    const { written, untouched } = await storeConversations({ archiveId, runId, conversations, stored, now })
    unchanged += untouched
    // One that gets on is not what kills its process, however often that dies.
    if (written > 0) await Commands.updateOne(heldBy(command), { $set: { crashes: 0 } })
  }
  // Whoever lost the connection during the last batch hears of it here, before anything is told.
  await writeHeld(held.document, { $set: { 'sync.unchanged': unchanged } })
  return unchanged
}

async function* batches(conversations: AsyncIterable<JsonObject>): AsyncIterable<Prepared[]> {
  let batch: Prepared[] = []
  let bytes = 0
  for await (const raw of conversations) {
    const prepared = await prepare({ extracted: extractConversation(raw), raw })
    batch.push(prepared)
    bytes += prepared.bytes
    if (batch.length < BATCH_CONVERSATIONS && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

/** An export that names another account than the connection's is refused; one that names none is taken on trust. */
async function checkAccount({
  given: { account },
  connection,
  command,
  runtime,
}: {
  given: AccountExport
  connection: Connection
  command: Command<'ingest'>
  runtime: ActorRuntime
}): Promise<void> {
  if (!account) return
  const app = await Apps.findById(command.appId).lean<App>()
  if (!app) throw new ServiceError('app_not_found')
  const { provider, accountId, emailHash } = connection
  const matches =
    account.id !== null
      ? accountIdOf({ app, provider, providerAccountId: account.id, runtime }) === accountId
      : account.email === null || !emailHash || emailHashOf({ app, email: account.email, runtime }) === emailHash
  if (!matches) throw new ServiceError('other_account')
}
