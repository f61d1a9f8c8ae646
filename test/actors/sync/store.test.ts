import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { prepare } from '../../../actors/archive/prepare.ts'
import { deleteArchive } from '../../../actors/archive/purge-data.ts'
import { storeConversations, storedOf } from '../../../actors/archive/store.ts'
import { textOf } from '../../../core/gzip-pieces.ts'
import { newId } from '../../../core/ids.ts'
import { extractConversation } from '../../../provider/branch.ts'
import { Conversations } from '../../../schemas/archive/conversation.ts'
import { bodyId, ConversationBodies, readPayloads } from '../../../schemas/archive/conversation-body.ts'
import { readPage } from '../../../schemas/archive/conversation-order.ts'
import { ConversationParts, INLINE_BYTES, PART_BYTES, readParts } from '../../../schemas/archive/conversation-part.ts'
import { connectedTestDatabase } from '../../support/database.ts'
import { rawConversation } from './raw-conversation.ts'
import { stalledAt, watched, watchWrites } from './watched-writes.ts'

const storing = suite('storing conversations')
let stop: () => Promise<void>
storing.before(async () => {
  const database = await connectedTestDatabase()
  const unwatch = watchWrites()
  stop = async () => {
    unwatch()
    await database.stop()
  }
})
storing.after(() => stop())

const ID = 'conversation'
/** Too large for the conversation's document. */
const LARGE = INLINE_BYTES + 1_000
/** Of more than one part. */
const LARGER = PART_BYTES + 1_000

interface Version {
  name: string
  /** Unix seconds. */
  time: number
  characters?: number
}

/** What the provider has at a time: its title and its text tell which version it is. */
const raw = ({ name, time, characters = 10 }: Version) =>
  rawConversation({ id: ID, title: name, text: name.repeat(characters), updateTime: time })

const lookAt = (archiveId: string) => storedOf({ archiveId, externalIds: [ID] })

async function store(
  archiveId: string,
  version: Version,
  { stored }: { stored?: Awaited<ReturnType<typeof lookAt>> } = {},
) {
  const object = raw(version)
  const conversations = [await prepare({ extracted: extractConversation(object), raw: object })]
  const now = new Date(2_000_000_000_000)
  await storeConversations({
    archiveId,
    runId: newId(),
    conversations,
    stored: stored ?? (await lookAt(archiveId)),
    now,
  })
}

/** The one version that the API answers, read as it does; fails where it is not whole or a mix. */
async function served(archiveId: string): Promise<string> {
  const [conversation] = await readPayloads(await readPage({ selection: { archiveId }, limit: 1 }))
  assert.ok(conversation)
  const { _id, partsVersion, payload, updateTime } = conversation
  const bytes = payload
    ? textOf(payload)
    : await readParts({ conversationId: _id, kind: 'payload', version: partsVersion })
  assert.ok(bytes, 'there is something to answer')
  const { title, messages } = JSON.parse(bytes.toString())
  const [{ content }] = messages
  assert.is(title, conversation.title)
  assert.ok(content.length > 0 && content === String(title).repeat(content.length), `the text of ${title}`)
  return `${title} ${(updateTime?.getTime() ?? 0) / 1000}`
}

/** Parts and bodies that belong to nothing that is served. */
async function leftovers(archiveId: string): Promise<{ parts: number; bodies: number }> {
  const conversation = await Conversations.findOne({ archiveId }).lean()
  const parts = await ConversationParts.find({ archiveId }).lean()
  const bodies = await ConversationBodies.find({ archiveId }).lean()
  return {
    parts: parts.filter(({ version }) => version !== conversation?.partsVersion).length,
    bodies: bodies.filter(({ _id }) => !conversation || _id !== bodyId(conversation)).length,
  }
}
const NONE = { parts: 0, bodies: 0 }

const sizes = [
  { from: 10, to: 10 },
  { from: LARGER, to: LARGER },
  { from: LARGE, to: 10 },
  { from: 10, to: LARGE },
]

for (const { from, to } of sizes)
  storing(`a crash between any two writes, ${from} to ${to} characters: one whole version is served`, async () => {
    let ended = false
    for (let at = 0; !ended; at++) {
      const archiveId = newId()
      await store(archiveId, { name: 'A', time: 1_000, characters: from })
      const crash = (index: number) => {
        if (index === at) throw new Error('crashed')
      }
      ended = await watched(crash, () => store(archiveId, { name: 'B', time: 2_000, characters: to })).then(
        () => true,
        () => false,
      )
      assert.match(await served(archiveId), /^(A 1000|B 2000)$/)
      await store(archiveId, { name: 'B', time: 2_000, characters: to })
      assert.is(await served(archiveId), 'B 2000')
      await store(archiveId, { name: 'C', time: 3_000, characters: LARGE })
      assert.is(await served(archiveId), 'C 3000')
      assert.equal(await leftovers(archiveId), NONE, 'a later write clears up')
    }
  })

const rivals = [
  { stalls: { name: 'A', time: 2_000, characters: LARGE }, other: { name: 'B', time: 3_000, characters: LARGE } },
  { stalls: { name: 'A', time: 3_000, characters: LARGE }, other: { name: 'B', time: 2_000, characters: LARGE } },
  { stalls: { name: 'A', time: 2_000, characters: LARGE }, other: { name: 'B', time: 2_000, characters: LARGE } },
  { stalls: { name: 'A', time: 2_000, characters: 10 }, other: { name: 'B', time: 3_000, characters: 10 } },
  { stalls: { name: 'A', time: 2_000, characters: 10 }, other: { name: 'B', time: 3_000, characters: LARGE } },
  { stalls: { name: 'A', time: 2_000, characters: LARGE }, other: { name: 'B', time: 3_000, characters: 10 } },
]

for (const before of [true, false])
  for (const { stalls, other } of rivals)
    storing(
      `a writer of ${JSON.stringify(stalls)} stalls at any write, another stores ${JSON.stringify(other)}${before ? '' : ', the first'}`,
      async () => {
        let ended = false
        for (let at = 0; !ended; at++) {
          const archiveId = newId()
          if (before) await store(archiveId, { name: 'Z', time: 1_000, characters: LARGE })
          const stored = await lookAt(archiveId)
          const stalled = await stalledAt(at, () => store(archiveId, stalls, { stored }))
          ended = stalled.ended
          await store(archiveId, other)
          const meanwhile = await served(archiveId)
          await stalled.go()
          assert.is(await served(archiveId), meanwhile, 'whoever comes late changes nothing')
          if (other.time > stalls.time) assert.is(meanwhile, `B ${other.time}`)
          const left = await leftovers(archiveId)
          assert.is(left.parts, 0)
          // The body of a version that is newer than what is served may be another writer's; whoever writes next clears it up.
          await store(archiveId, { name: 'C', time: 4_000 })
          assert.equal(await leftovers(archiveId), NONE)
          if (other.time >= stalls.time) assert.is(left.bodies, 0)
        }
      },
    )

storing('whoever listed an archive before it is deleted is told of all of it, or of nothing', async () => {
  const archiveId = newId()
  await store(archiveId, { name: 'A', time: 1_000 })
  const listed = await readPage({ selection: { archiveId }, limit: 1 })
  const found: number[] = []
  const look = async (): Promise<void> => {
    found.push((await readPayloads(listed)).length)
  }
  await watched(look, () => deleteArchive({ archiveId }))
  await look()
  assert.is(found[0], 1)
  assert.is(found.at(-1), 0)
  assert.equal(await leftovers(archiveId), NONE)
})

storing.run()
