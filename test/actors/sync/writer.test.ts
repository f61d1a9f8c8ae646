import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { prepare } from '../../../actors/archive/prepare.ts'
import { createWriter } from '../../../actors/archive/writer.ts'
import { systemClock } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'
import { extractConversation } from '../../../provider/branch.ts'
import { Conversations } from '../../../schemas/archive/conversation.ts'
import { type Account, Accounts, type Backfill } from '../../../schemas/connection/account.ts'
import { connectedTestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { stalledAt, watched, watchWrites } from './watched-writes.ts'

const writing = suite('writing what a sync reads')
let stop: () => Promise<void>
writing.before(async () => {
  const database = await connectedTestDatabase()
  const unwatch = watchWrites()
  stop = async () => {
    unwatch()
    await database.stop()
  }
})
writing.after(() => stop())

const clock = systemClock()
/** Writes of one page: its conversation, the progress. */
const WRITES = 2

/** An account whose connection is held by one run at a time, as the claims do it. */
async function accountWith(backfill: Backfill) {
  const _id = newId()
  const archiveId = newId()
  let holder = ''
  await Accounts.create({ _id, appId: 'x', provider: 'x', archiveId, backfill, fence: 0 })
  return {
    /** A run that takes the connection over: `page` reads a conversation and then notes the progress. */
    run: async () => {
      const runId = newId()
      holder = runId
      const account = await Accounts.findById(_id).lean<Account>()
      if (!account) throw new Error('no account')
      const writer = createWriter({
        account: { ...account, archiveId },
        runId,
        clock,
        progress: { unchanged: 0, written: 0 },
        checkpoint: async () => {
          if (holder !== runId) throw new Error('the claim is lost')
        },
      })
      return {
        page: async (externalId: string, reached: Backfill) => {
          const raw = { id: externalId, update_time: 1_000, mapping: {} }
          await writer.put(await prepare({ extracted: extractConversation(raw), raw }), undefined)
          await writer.page({ unchanged: 0, backfill: reached })
          await writer.flush()
        },
      }
    },
    backfill: async () => JSON.parse(JSON.stringify((await Accounts.findById(_id).lean<Account>())?.backfill)),
    stored: async () => (await Conversations.find({ archiveId }).lean()).map(({ externalId }) => externalId).sort(),
  }
}

const at = (day: number) => new Date(Date.UTC(2026, 0, day))
const asStored = (backfill: Backfill) => JSON.parse(JSON.stringify(backfill))

const losesClaim = (run: Promise<unknown>): Promise<void> =>
  run.then(
    () => assert.unreachable('the claim is lost'),
    (error: Error) => assert.is(error.message, 'the claim is lost'),
  )

for (const pagesBefore of [0, 1])
  writing(`a run that stalls after ${pagesBefore} pages changes no progress of the one that took over`, async () => {
    for (let index = 0; index < WRITES; index++) {
      const { run, backfill, stored } = await accountWith({ done: false, head: at(9), before: at(8) })
      const stalls = await run()
      if (pagesBefore > 0) await stalls.page('before', { done: false, head: at(9), before: at(7) })
      const stalled = await stalledAt(index, () => stalls.page('stalled', { done: true, head: at(9), before: at(1) }))
      assert.not(stalled.ended)
      // What the successor could not read has to be asked for again: it is on no page below its head.
      const reached = { done: false, head: at(10), before: at(6), unread: ['broken'] }
      await (await run()).page('successor', reached)
      await losesClaim(stalled.go())
      assert.equal(await backfill(), asStored(reached))
      assert.ok((await stored()).includes('successor'))
    }
  })

writing('a stalled write that comes in before the first of the successor does not end that', async () => {
  const { run, backfill, stored } = await accountWith({ done: false })
  const stalls = await run()
  const stalled = await stalledAt(WRITES - 1, () => stalls.page('stalled', { done: false, head: at(9), before: at(8) }))
  const successor = await run()
  await losesClaim(stalled.go())
  const reached = { done: true, head: at(10), before: at(1) }
  await successor.page('successor', reached)
  assert.equal(await backfill(), asStored(reached))
  const further = { done: true, head: at(11), before: at(1) }
  await successor.page('further', further)
  assert.equal(await backfill(), asStored(further))
  assert.equal(await stored(), ['further', 'stalled', 'successor'])
})

writing(
  'it is said of the archive that it moves before each batch, and that it has settled after the last that waits',
  async () => {
    const said: string[] = []
    const runId = newId()
    const archiveId = newId()
    const writer = createWriter({
      account: { _id: newId(), archiveId },
      runId,
      clock,
      progress: { unchanged: 0, written: 0 },
      checkpoint: async (archive = 'settled') => {
        said.push(`${archive} at ${await Conversations.countDocuments({ archiveId })}`)
      },
    })
    for (const externalId of ['first', 'second']) {
      const raw = { id: externalId, update_time: 1_000, mapping: {} }
      await writer.put(await prepare({ extracted: extractConversation(raw), raw }), undefined)
      await writer.flush()
    }
    assert.equal(said, ['moving at 0', 'settled at 1', 'moving at 1', 'settled at 2'])
  },
)

writing('a batch that was stored beside one that was not is not noted as read', async () => {
  const BATCH = 1_000
  const _id = newId()
  const archiveId = newId()
  const backfill = { done: false }
  await Accounts.create({ _id, appId: 'x', provider: 'x', archiveId, backfill, fence: 0 })
  const progress = { unchanged: 0, written: 0 }
  const checkpoint = async () => undefined
  const writer = createWriter({ account: { _id, archiveId }, runId: newId(), clock, progress, checkpoint })
  let fail = (_: Error): void => undefined
  const stall = new Promise<void>((_, reject) => {
    fail = reject
  })
  const ended = watched(
    (index) => (index === 0 ? stall : undefined),
    async () => {
      for (const day of [9, 8]) {
        for (let number = 0; number < BATCH; number++) {
          const raw = { id: `${day}-${number}`, update_time: 1_000, mapping: {} }
          await writer.put(await prepare({ extracted: extractConversation(raw), raw }), undefined)
        }
        await writer.page({ unchanged: 0, backfill: { done: false, before: at(day) } })
      }
      await writer.flush()
    },
  )
  await until('the second is stored', async () => (await Conversations.countDocuments({ archiveId })) === BATCH)
  fail(new Error('the first is not'))
  await ended.then(
    () => assert.unreachable('it was not stored'),
    (error: Error) => assert.is(error.message, 'the first is not'),
  )
  assert.equal(asStored((await Accounts.findById(_id).lean<Account>())?.backfill ?? { done: true }), backfill)
  assert.is(progress.written, 0)
})

writing.run()
