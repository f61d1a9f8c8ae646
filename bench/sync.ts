import { fork } from 'node:child_process'
import { once } from 'node:events'
import mongoose from 'mongoose'
import { textOf } from '../core/gzip-pieces.ts'
import { extractConversation } from '../provider/branch.ts'
import { type Conversation, Conversations } from '../schemas/archive/conversation.ts'
import { bodyId, ConversationBodies } from '../schemas/archive/conversation-body.ts'
import { NODE_ARGUMENTS } from '../start/node-arguments.ts'
import { median, printRow, rounded } from './row.ts'
import { startSyncWorld } from './sync/world.ts'

/**
 * Conversations imported a second from a provider without limits, beside the bare driver's bulkWrite of the very same conversations into
 * a collection with the same indexes, which grows as ours does; the two take turns. Then what a large account and a fold cost; and
 * before all that, while the heap is small, what a large tree costs.
 */
const ROUNDS = 5
const IMPORTED = 10_000
const FLOOR_BATCH = 1_000
const FOLDS = 9
const FEW = 100
const MANY = 50_000
const NODES = 50_000
const EXTRACTIONS = 15
const LARGE_ACCOUNT = 20_000

function tree(nodes: number): unknown {
  const entries = Array.from({ length: nodes }, (_, index) => ({
    id: `n${index}`,
    parent: index === 0 ? null : `n${index - 1}`,
    message: { id: `n${index}`, author: { role: 'user' }, content: { content_type: 'text', parts: ['Hello'] } },
  }))
  return {
    id: 'tree',
    current_node: `n${nodes - 1}`,
    mapping: Object.fromEntries(entries.map((node) => [node.id, node])),
  }
}
function extractionMs(trees: unknown[]): number {
  const begin = performance.now()
  for (const raw of trees) extractConversation(raw)
  return performance.now() - begin
}
const extractions = { halves: [] as number[], whole: [] as number[] }
for (let round = 0; round <= EXTRACTIONS; round++) {
  // Two of half the size, so that the caches hold as little of either side; new ones each time, since where they lie in memory matters.
  const ofHalves = extractionMs([tree(NODES / 2), tree(NODES / 2)])
  const ofWhole = extractionMs([tree(NODES)])
  if (round === 0) continue
  extractions.halves.push(ofHalves)
  extractions.whole.push(ofWhole)
}
printRow({
  what: 'branch of a tree of 50,000 nodes, against two of 25,000',
  ours: `${rounded(median(extractions.whole))} ms`,
  floor: `${rounded(median(extractions.halves))} ms`,
  ratio: median(extractions.whole) / median(extractions.halves),
  goal: { atMost: 1.5 },
})

const provider = fork(new URL('sync/provider.ts', import.meta.url), [String(LARGE_ACCOUNT)], {
  execArgv: NODE_ARGUMENTS,
})
const [site] = (await once(provider, 'message')) as [string]
const totals = Array.from({ length: ROUNDS + 1 }, (_, round) => IMPORTED + round)

/** As one document each, with its text as text, which is the fastest that the driver has without any work of its own: in conversations a second. */
async function bareWrite(archiveId: string): Promise<number> {
  const entries = await Conversations.collection.find({ archiveId }).toArray()
  const bodies = await ConversationBodies.collection.find({ archiveId }).toArray()
  const bodyById = new Map(
    bodies.map(({ _id, payloadGzip, ...body }) => [
      String(_id),
      { ...body, payload: payloadGzip && textOf(payloadGzip) },
    ]),
  )
  const documents = entries.map((entry) => ({ ...bodyById.get(bodyId(entry as unknown as Conversation)), ...entry }))
  const collection = mongoose.connection.collection('bare')
  for (const [fields, options] of Conversations.schema.indexes()) {
    const { unique } = options as { unique?: boolean }
    await collection.createIndex(fields as Record<string, 1 | -1>, unique ? { unique } : {})
  }
  const begin = performance.now()
  for (let from = 0; from < documents.length; from += FLOOR_BATCH) {
    const batch = documents.slice(from, from + FLOOR_BATCH)
    await collection.bulkWrite(
      batch.map((document) => ({ insertOne: { document } })),
      { ordered: false },
    )
  }
  return documents.length / ((performance.now() - begin) / 1_000)
}

/** The two take turns. */
async function compareImports({ site, answers, goal }: { site: string; answers: string; goal: number }): Promise<void> {
  const world = await startSyncWorld({ site, accounts: totals })
  const rates = { bare: [] as number[], ours: [] as number[] }
  for (const [round, total] of totals.entries()) {
    const { connection } = await world.connect(total)
    const ms = await world.synced(connection)
    const bare = await bareWrite(connection.archiveId ?? '')
    // The first round warms both up.
    if (round === 0) continue
    rates.ours.push(total / (ms / 1_000))
    rates.bare.push(bare)
  }
  printRow({
    what: `conversations imported from ${answers}, against a bare bulkWrite of the same conversations`,
    ours: `${rounded(median(rates.ours))}/s`,
    floor: `${rounded(median(rates.bare))}/s`,
    ratio: median(rates.ours) / median(rates.bare),
    goal: { atLeast: goal },
  })
  await world.stop()
}
await compareImports({ site, answers: 'gzip answers', goal: 0.5 })
await compareImports({ site: `${site}/plain`, answers: 'plain JSON', goal: 0.6 })

const world = await startSyncWorld({ site, accounts: [IMPORTED, LARGE_ACCOUNT] })
// The room that V8 wants for such work is taken by then.
await world.synced((await world.connect(IMPORTED)).connection)
const samples: Promise<number>[] = []
const { connection } = await world.connect(LARGE_ACCOUNT)
const sampling = setInterval(() => samples.push(world.memoryMib()), 100)
await world.synced(connection)
clearInterval(sampling)
const peakOf = async (list: Promise<number>[]): Promise<number> => Math.max(...(await Promise.all(list)))
const half = samples.length / 2
const [early, late] = [await peakOf(samples.slice(0, half)), await peakOf(samples.slice(half))]
printRow({
  what: 'memory of a sync of 20,000 conversations: peak of its second half, against the first',
  ours: `${rounded(late)} MiB`,
  floor: `${rounded(early)} MiB`,
  ratio: late / early,
  goal: { atMost: 1.2 },
})

await world.stop()

async function fill(archiveId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += FLOOR_BATCH) {
    const documents = Array.from({ length: Math.min(FLOOR_BATCH, count - from) }, (_, index) => ({
      _id: `${archiveId}-${from + index}`,
      archiveId,
      externalId: `${from + index}`,
      title: 'A conversation',
      updateTime: new Date(from + index),
      firstMessageAt: new Date(from + index),
      payload: '{"title":"A conversation","messages":[]}',
      hash: 'hash',
      runId: 'run',
      change: 'inserted',
      storedAt: new Date(),
    }))
    await Conversations.collection.insertMany(documents as never[], { ordered: false })
  }
}

// Nothing is synced here: what is measured is the fold alone.
const quiet = await startSyncWorld({ site, accounts: [FEW, MANY], syncsAtOnce: 0 })
const folds = { few: [] as number[], many: [] as number[] }
const { archiveId: few = '' } = (await quiet.connect(FEW)).connection
const { archiveId: many = '' } = (await quiet.connect(MANY)).connection
await fill(few, FEW)
await fill(many, MANY)
for (let round = 0; round <= FOLDS; round++) {
  const [small, large] = [await quiet.connect(FEW), await quiet.connect(MANY)]
  if (round === 0) continue
  folds.few.push(small.ms)
  folds.many.push(large.ms)
}
printRow({
  what: 'fold of an account with 50,000 conversations, against one with 100',
  ours: `${rounded(median(folds.many))} ms`,
  floor: `${rounded(median(folds.few))} ms`,
  ratio: median(folds.many) / median(folds.few),
  goal: { atMost: 1.5 },
})

await quiet.stop()
provider.disconnect()
