import { setTimeout as sleep } from 'node:timers/promises'
import { prepare } from '../actors/archive/prepare.ts'
import { createWriter } from '../actors/archive/writer.ts'
import { createCheckpoint } from '../actors/sync/checkpoint.ts'
import { systemClock } from '../core/clock.ts'
import { newId } from '../core/ids.ts'
import { extractConversation } from '../provider/branch.ts'
import { Connections } from '../schemas/connection/connection.ts'
import { startHttpWorld } from '../test/support/http.ts'
import { startHttpProcess } from '../test/support/http-process.ts'
import { seedConnection, seedConversations } from '../test/support/seed.ts'
import { compareRates, compareTimes } from './api/compare.ts'
import { createText, payloadOf } from './api/text.ts'
import { answered } from './support/answered.ts'

/**
 * Pages of a real http process where nothing is kept of an archive: at offsets that nobody asked for before, while a sync stores, and after a
 * sync that found nothing. Each against our own page where that costs least.
 */
const HISTORY = 10_000
const PAGE = 50
const LONG_HISTORY = 120_000
const DEEP_OFFSET = 100_000
/** About what a provider lets a sync read. */
const READ_AT_ONCE = 10
const READ_EVERY_MS = 500
/** Spreads the offsets over the history, none like the one before. */
const STRIDE = 3_701

const world = await startHttpWorld()
const http = await startHttpProcess(world.env)
const headers = { authorization: `Bearer ${world.one.apiKey}` }
const { appId } = world.one
const text = createText()

const raw = (): { id: string } => {
  const id = newId()
  const message = { id, author: { role: 'user' }, content: { content_type: 'text', parts: [text(1_500)] } }
  return {
    id,
    title: id,
    current_node: 'n',
    update_time: Date.now() / 1_000,
    mapping: { n: { id: 'n', parent: null, message } },
  } as { id: string }
}

/** Holds the connection as a sync does, and writes what a sync would read. */
async function sync({ _id, archiveId = '' }: { _id: string; archiveId?: string }): Promise<() => Promise<void>> {
  const claim = { $set: { claimedBy: 'bench' }, $inc: { fence: 1 } }
  const { fence = 0 } = (await Connections.findOneAndUpdate({ _id }, claim, { returnDocument: 'after' }).lean()) ?? {}
  const progress = { unchanged: 0, written: 0 }
  const checkpoint = createCheckpoint({ connection: { _id, fence }, progress })
  await checkpoint('settled')
  const writer = createWriter({
    account: { _id: 'bench', archiveId },
    runId: 'bench',
    clock: systemClock(),
    progress,
    checkpoint,
  })
  let ended = false
  const read = async (): Promise<void> => {
    while (!ended) {
      for (const object of Array.from({ length: READ_AT_ONCE }, raw))
        await writer.put(await prepare({ extracted: extractConversation(object), raw: object }), undefined)
      await sleep(READ_EVERY_MS)
    }
    await writer.flush()
  }
  const reading = read()
  return async () => {
    ended = true
    await reading
    await release({ _id })
  }
}

/** As a sync leaves it: what was learned of the archive before holds no more. */
const release = ({ _id }: { _id: string }) =>
  Connections.updateOne({ _id }, { $unset: { claimedBy: 1 }, $inc: { fence: 1 } })

try {
  const busy = await seedConnection({ appId, userRef: 'busy' })
  await seedConversations({
    archiveId: busy.archiveId ?? '',
    count: HISTORY,
    make: (index) => ({ payload: payloadOf(`Conversation ${index}`, text) }),
  })
  const somewhere = (number: number): string =>
    `/api/conversations?connectionId=${busy._id}&limit=${PAGE}&offset=${(number * STRIDE) % (HISTORY - PAGE)}`
  const pages = { url: http.url, path: somewhere, headers }
  await compareRates({
    what: `pages by offset of ${HISTORY} conversations while a sync of that connection runs, against the same at rest`,
    ours: { ...pages, meanwhile: () => sync(busy) },
    floor: pages,
    goal: 0.9,
  })

  const long = await seedConnection({ appId, userRef: 'long' })
  await seedConversations({ archiveId: long.archiveId ?? '', count: LONG_HISTORY })
  const page = (offset: number) => () =>
    answered(`${http.url}/api/conversations?connectionId=${long._id}&limit=${PAGE}&offset=${offset}`, { headers })
  await compareTimes({
    what: `page at offset ${DEEP_OFFSET} of ${LONG_HISTORY} with nothing kept, against page 0`,
    ours: page(DEEP_OFFSET),
    floor: page(0),
    before: () => release(long),
    goal: 3,
  })
} finally {
  await http.stop()
  await world.stop()
}
