import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { systemClock } from '../../../core/clock.ts'
import { textOf } from '../../../core/gzip-pieces.ts'
import { extractConversation } from '../../../provider/branch.ts'
import { type Conversation, Conversations } from '../../../schemas/archive/conversation.ts'
import { bodyId, ConversationBodies } from '../../../schemas/archive/conversation-body.ts'
import { readParts } from '../../../schemas/archive/conversation-part.ts'
import { storeExportUpload } from '../../../schemas/archive/export-upload.ts'
import type { Command } from '../../../schemas/command/command.ts'
import { awaitCommand, writeCommand } from '../../../schemas/command/commands.ts'
import { type Connection, Connections } from '../../../schemas/connection/connection.ts'
import { trusted } from '../../../schemas/database.ts'
import { type ActorWorld, COMMAND_TIMEOUT_MS } from '../../support/actors.ts'
import { until } from '../../support/until.ts'

const clock = systemClock()
const MIB = 1024 * 1024

interface SiteRequest {
  at: string
  path: string
  status: number
}

interface SiteCalls {
  session: number
  list: number
  conversation: number
  file: number
  refused: number
}

export async function connectionOf(id: string): Promise<Connection> {
  const connection = await Connections.findById(id).lean<Connection>()
  if (!connection) throw new Error('no such connection')
  return connection
}

/** Connects and returns the connection's id. */
export async function connected(world: ActorWorld, options: Parameters<ActorWorld['connect']>[0]): Promise<string> {
  const { result, failure } = await world.connect(options)
  if (!result) throw new Error(`not connected: ${failure?.code}`)
  return result.connectionId
}

/** Waits until a sync has ended in this way. */
export const ended = (id: string, outcome: string): Promise<Connection> =>
  until(`a sync that ends with ${outcome}`, async () => {
    const connection = await connectionOf(id)
    return !connection.claimedBy && connection.sync.outcome?.startsWith(outcome) ? connection : null
  })

/** Waits until the whole history was read. */
export const complete = (id: string): Promise<Connection> => ended(id, 'complete')

/** Makes the connection due and waits for the end of a sync that began after this call. */
export async function syncAgain(id: string): Promise<Connection> {
  const idle = { _id: id, claimedBy: trusted({ $exists: false }) }
  const before = await until('an idle connection', () =>
    Connections.findOneAndUpdate(
      idle,
      { $set: { claimableAt: new Date(0), 'sync.outcome': 'asked for' } },
      { returnDocument: 'after' },
    ).lean<Connection>(),
  )
  return until('the sync that was asked for', async () => {
    const connection = await connectionOf(id)
    const { claimedBy, fence, sync } = connection
    return fence > before.fence && !claimedBy && sync.outcome !== 'asked for' ? connection : null
  })
}

export const makeDue = (id: string) => Connections.updateOne({ _id: id }, { $set: { claimableAt: new Date(0) } })

export const storedOf = (connection: Pick<Connection, 'archiveId'>): Promise<Conversation[]> =>
  Conversations.find({ archiveId: connection.archiveId ?? '' })
    .sort({ updateTime: -1 })
    .lean<Conversation[]>()

export const bodyOf = (conversation: Conversation) => ConversationBodies.findById(bodyId(conversation)).lean()

/** What the API would answer as `payload`. */
export async function payloadOf(conversation: Conversation): Promise<{ title: string; messages: unknown[] }> {
  const { _id, partsVersion } = conversation
  const body = await bodyOf(conversation)
  const piece = body?.payloadGzip
  const bytes = piece ? textOf(piece) : await readParts({ conversationId: _id, kind: 'payload', version: partsVersion })
  if (!bytes) throw new Error('a conversation without payload')
  return JSON.parse(bytes.toString()) as { title: string; messages: unknown[] }
}

/** The provider's own object, as it is kept. */
export async function rawOf(conversation: Conversation): Promise<unknown> {
  const { _id, partsVersion } = conversation
  const body = await bodyOf(conversation)
  const bytes = body?.raw ?? (await readParts({ conversationId: _id, kind: 'raw', version: partsVersion }))
  if (!bytes) throw new Error('a conversation without the provider’s own object')
  return JSON.parse(gunzipSync(bytes).toString('utf8'))
}

/** Every conversation that the provider has now: external id → title and messages, as they should be stored. */
export async function providerHas(world: ActorWorld, account: string): Promise<Map<string, unknown>> {
  const { conversations } = await world.site.control<{ conversations: unknown[] }>({ action: 'export', account })
  return new Map(
    conversations.map((raw) => {
      const { externalId, title, messages } = extractConversation(raw)
      return [externalId, JSON.parse(JSON.stringify({ title, messages }))]
    }),
  )
}

export async function callsOf(world: ActorWorld, account: string): Promise<SiteCalls> {
  const { calls } = await world.site.control<{ calls: Record<string, SiteCalls> }>({ action: 'log', account })
  return calls[account] ?? { session: 0, list: 0, conversation: 0, file: 0, refused: 0 }
}

export async function requestsOf(world: ActorWorld, account: string): Promise<SiteRequest[]> {
  return (await world.site.control<{ requests: SiteRequest[] }>({ action: 'log', account })).requests
}

/** Uploads an export and has it ingested; returns the ended command. */
export async function ingest(
  world: ActorWorld,
  {
    connectionId,
    conversations,
    appId = world.appId,
  }: { connectionId: string; conversations: unknown[]; appId?: string },
): Promise<Command<'ingest'>> {
  const id = await beginIngest(world, { connectionId, conversations, appId })
  const command = await awaitCommand<'ingest'>({ id, clock, timeoutMs: COMMAND_TIMEOUT_MS })
  if (!command) throw new Error('the ingest command did not end')
  return command
}

export async function beginIngest(
  world: ActorWorld,
  {
    connectionId,
    conversations,
    appId = world.appId,
  }: { connectionId: string; conversations: unknown[]; appId?: string },
): Promise<string> {
  const { fileId } = await storeExportUpload({
    connectionId,
    stream: Readable.from([Buffer.from(JSON.stringify(conversations))]),
    maxBytes: 256 * MIB,
    limit: '256 MiB',
    keyring: world.keyring,
  })
  return writeCommand({
    kind: 'ingest',
    appId,
    target: connectionId,
    by: { kind: 'api-key', id: 'test' },
    args: { connectionId, fileId },
    now: clock.now(),
  })
}
