import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DAY, MINUTE, SECOND } from '../../../core/clock.ts'
import { createArchiveCounts } from '../../../http/api/archive-counts.ts'
import { connectedTestDatabase } from '../../support/database.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const counts = suite('counts of an archive')

let database: Awaited<ReturnType<typeof connectedTestDatabase>>
counts.before(async () => {
  database = await connectedTestDatabase()
})
counts.after(() => database.stop())

/** An archive of conversations that leave the window of 30 days so long after NOW (ms), and how it is counted at a moment after NOW. */
async function counted(leaving: number[]) {
  const clock = virtualClock(new Date(NOW))
  const count = createArchiveCounts({ clock })
  const connection = await seedConnection({ appId: 'one', userRef: 'someone' })
  const add = (after: number[], name: string) =>
    seedConversations({
      archiveId: connection.archiveId ?? '',
      count: after.length,
      make: (index) => ({
        externalId: `${name}-${index}`,
        firstMessageAt: new Date(NOW - 30 * DAY + (after[index] ?? 0)),
      }),
    })
  await add(leaving, 'first')
  return {
    add,
    at: async (ms: number, fence = 0) => {
      clock.jump(new Date(NOW + ms))
      const { all, recent } = (await count([{ ...connection, fence }], clock.now()))(connection._id)
      return { all, recent }
    },
  }
}

counts('are right at each moment at which a conversation leaves the window', async () => {
  const { at } = await counted([-SECOND, 0, 20 * SECOND, MINUTE - 1, MINUTE, MINUTE + 1, DAY])
  assert.equal(await at(0), { all: 7, recent: 6 })
  assert.equal(await at(1), { all: 7, recent: 5 })
  assert.equal(await at(20 * SECOND), { all: 7, recent: 5 })
  assert.equal(await at(20 * SECOND + 1), { all: 7, recent: 4 })
  assert.equal(await at(MINUTE), { all: 7, recent: 3 })
  assert.equal(await at(MINUTE + 1), { all: 7, recent: 2 })
  assert.equal(await at(MINUTE + 2), { all: 7, recent: 1 })
  assert.equal(await at(2 * DAY), { all: 7, recent: 0 })
})

counts('are not counted again within a minute, unless the archive was written to', async () => {
  const { add, at } = await counted([MINUTE, DAY])
  assert.equal(await at(0), { all: 2, recent: 2 })
  await add([DAY], 'unnoticed')
  assert.equal(await at(MINUTE - 1), { all: 2, recent: 2 })
  assert.equal(await at(MINUTE - 1, 1), { all: 3, recent: 3 })
  assert.equal(await at(MINUTE), { all: 3, recent: 3 })
})

counts.run()
