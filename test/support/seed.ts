import { randomUUID } from 'node:crypto'
import { gzipPiece } from '../../core/gzip-pieces.ts'
import { type Conversation, Conversations } from '../../schemas/archive/conversation.ts'
import { bodyId, ConversationBodies } from '../../schemas/archive/conversation-body.ts'
import { type CommandResults, Commands } from '../../schemas/command/command.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { ensureUser } from '../../schemas/user/user.ts'

/** Puts a connection of a user in the database, as a finished sync leaves it. */
export async function seedConnection({
  appId,
  userRef,
  ...more
}: { appId: string; userRef: string } & Partial<Connection>): Promise<Connection> {
  const user = await ensureUser({ appId, userRef, now: new Date() })
  const connection: Connection = {
    _id: randomUUID(),
    appId,
    userId: user._id,
    userRef,
    provider: 'sandbox-assistant',
    status: 'active',
    capturedAt: new Date(),
    accountId: randomUUID(),
    archiveId: randomUUID(),
    replaces: [],
    sync: { unchanged: 0 },
    crashes: 0,
    fence: 0,
    outbox: [],
    ...more,
  }
  await Connections.create(connection)
  return connection
}

/** Puts conversations and their bodies in an archive; `make` gives the fields that matter by index, and no body where `payload` is null. */
export async function seedConversations({
  archiveId,
  count,
  make = () => ({}),
}: {
  archiveId: string
  count: number
  make?: (index: number) => Partial<Conversation>
}): Promise<Conversation[]> {
  const batch = 1_000
  const all: Conversation[] = []
  for (let start = 0; start < count; start += batch) {
    const documents = Array.from({ length: Math.min(batch, count - start) }, (_, offset): Conversation => {
      const index = start + offset
      const title = `Conversation ${index}`
      return {
        _id: randomUUID(),
        archiveId,
        externalId: `ext-${index}`,
        title,
        updateTime: new Date(1_700_000_000_000 + index * 1_000),
        firstMessageAt: new Date(1_700_000_000_000 + index * 1_000),
        payload: JSON.stringify({ title, messages: [{ role: 'user', content: `Hello ${index}`, timestamp: null }] }),
        hash: `hash-${index}`,
        runId: 'seed',
        change: 'inserted',
        storedAt: new Date(),
        ...make(index),
      }
    })
    const bodies = await Promise.all(
      documents.flatMap((document) => (document.payload ? [seededBody(document, document.payload)] : [])),
    )
    if (bodies.length > 0) await ConversationBodies.collection.insertMany(bodies as never)
    await Conversations.collection.insertMany(documents.map(({ payload: _, ...entry }) => entry) as never)
    all.push(...documents)
  }
  return all
}

const seededBody = async (conversation: Conversation, payload: string) => ({
  _id: bodyId(conversation),
  archiveId: conversation.archiveId,
  payloadGzip: await gzipPiece(payload),
})

/** Ends a command as its actor would. */
export async function finishAs<K extends keyof CommandResults>(id: string, result: CommandResults[K]): Promise<void> {
  await Commands.updateOne(
    { _id: id },
    { $set: { state: 'done', result, doneAt: new Date() }, $unset: { claimableAt: 1 } },
  )
}
