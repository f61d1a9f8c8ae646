import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ProviderContractError, ProviderUnavailableError } from '../../../provider/errors.ts'
import { LONGEST_EXTERNAL_ID } from '../../../schemas/archive/external-id.ts'
import { connectedTestDatabase } from '../../support/database.ts'
import { type Listed, listOf, type MovingAccount, movingAccount } from './moving-account.ts'

const MINUTE = 60_000
/** By hand: `SEED=42`. */
const SEED = Number(process.env['SEED'] || Date.now() % 1_000_000)

const moving = suite('a list that moves while it is read')
let stop: () => Promise<void>
moving.before(async () => {
  ;({ stop } = await connectedTestDatabase())
})
moving.after(() => stop())

async function withAccount(conversations: Listed[], use: (account: MovingAccount) => Promise<void>): Promise<void> {
  const account = await movingAccount(conversations)
  try {
    await use(account)
  } finally {
    await account.close()
  }
}

/** As many syncs as it takes, each of so many pages. */
async function readAll(account: MovingAccount, { pages }: { pages?: number } = {}): Promise<void> {
  for (let syncs = 0; syncs < 50; syncs++) if (await account.read(pages === undefined ? {} : { pages })) return
  throw new Error('never complete')
}
const remove = (account: MovingAccount, ids: string[]): void => {
  account.conversations = account.conversations.filter(({ id }) => !ids.includes(id))
}

moving('a total that is too high or too low neither goes on for ever nor ends early', async () => {
  for (const count of [3, 10, 19, 20, 25]) {
    for (const off of [-15, -1, 1, 3, 100]) {
      await withAccount(listOf(count), async (account) => {
        account.total = (real) => Math.max(0, real + off)
        assert.ok(await account.read())
        assert.equal(await account.missing(), [], `${count} conversations, total off by ${off}`)
        // What is known to be off is not looked for again.
        account.listCalls = 0
        assert.ok(await account.read())
        assert.ok(account.listCalls <= 2, `${account.listCalls} list calls for nothing new`)
      })
    }
  }
})

moving('a total that begins to be wrong is looked into once', async () => {
  await withAccount(listOf(25), async (account) => {
    assert.ok(await account.read())
    account.total = (real) => real + 1
    assert.ok(await account.read())
    account.listCalls = 0
    assert.ok(await account.read())
    assert.is(account.listCalls, 1)
  })
})

moving('entries that vanish between two pages take nothing with them, also among equal update times', async () => {
  const at = Date.UTC(2025, 0, 1)
  for (const conversations of [listOf(60), listOf(60).map((each) => ({ ...each, at }))]) {
    await withAccount(conversations, async (account) => {
      account.betweenCalls = (calls) => {
        if (calls === 3) remove(account, ['c6', 'c7', 'c8', 'c9'])
      }
      assert.ok(await account.read())
      assert.equal(await account.missing(), [])
    })
  }
})

moving('an account of equal update times is read on where it was left, after deletions too', async () => {
  const at = Date.UTC(2025, 0, 1)
  const ties = [...listOf(3), ...listOf(60, { prefix: 't' }).map((each) => ({ ...each, at }))]
  await withAccount(ties, async (account) => {
    assert.not(await account.read({ pages: 4 }))
    remove(account, ['t1', 't2', 't3', 't4'])
    await readAll(account, { pages: 3 })
    assert.equal(await account.missing(), [])
  })
})

moving('what comes up deep in the list is found, whatever was deleted or came before', async () => {
  const deep = { id: 'deep', at: listOf(25).at(-2)?.at ?? 0 }
  await withAccount(listOf(25), async (account) => {
    assert.ok(await account.read())
    remove(account, ['c4'])
    assert.ok(await account.read())
    account.conversations.push(deep)
    assert.ok(await account.read())
    assert.equal(await account.missing(), [], 'after a deletion')
  })
  await withAccount(listOf(25), async (account) => {
    account.betweenCalls = (calls) => {
      if (calls === 2) account.conversations.push({ id: 'new', at: (listOf(1)[0]?.at ?? 0) + MINUTE })
    }
    assert.ok(await account.read())
    account.betweenCalls = () => undefined
    assert.ok(await account.read())
    account.conversations.push(deep)
    assert.ok(await account.read())
    assert.equal(await account.missing(), [], 'after one that came during the backfill')
  })
})

moving('a change that comes up twice in one look is read', async () => {
  await withAccount(listOf(60), async (account) => {
    await readAll(account)
    const now = (listOf(1)[0]?.at ?? 0) + 100 * MINUTE
    account.conversations.push(...listOf(25, { prefix: 'n', newest: now, step: 1000 }))
    account.listCalls = 0
    account.betweenCalls = (calls) => {
      if (calls !== 1) return
      const changed = account.conversations.find(({ id }) => id === 'n3')
      if (changed) Object.assign(changed, { at: now + 1000, title: 'Changed' })
      remove(account, ['n5', 'n6', 'n7', 'n8', 'n9'])
      account.conversations.push({ id: 'b0', at: now + 50_000 }, { id: 'b1', at: now + 51_000 })
    }
    assert.ok(await account.read())
    account.betweenCalls = () => undefined
    account.conversations.push(...listOf(8, { prefix: 'z', newest: now + 200_000, step: 1000 }))
    assert.ok(await account.read())
    assert.is((await account.stored()).get('n3')?.title, 'Changed')
    assert.equal(await account.missing(), [])
  })
})

moving('a new conversation of the very time of the newest one is read, also behind a page of them', async () => {
  const at = Date.UTC(2026, 0, 1)
  await withAccount(
    listOf(15).map((each) => ({ ...each, at })),
    async (account) => {
      await readAll(account)
      account.conversations.push({ id: 'twin', at })
      account.total = () => 15
      assert.ok(await account.read())
      assert.equal(await account.missing(), [])
    },
  )
})

moving('a conversation that is never to be had holds up nothing and is asked for again', async () => {
  for (const status of [500, 403, 200]) {
    await withAccount(listOf(60), async (account) => {
      account.broken.set('c12', status)
      assert.ok(await account.read())
      assert.equal(await account.missing(), ['c12'], `status ${status}`)
      account.conversations.push({ id: 'new', at: (listOf(1)[0]?.at ?? 0) + MINUTE })
      assert.ok(await account.read())
      assert.equal(await account.missing(), ['c12'], `news after status ${status}`)
      account.broken.clear()
      assert.ok(await account.read())
      assert.equal(await account.missing(), [], `had at last after status ${status}`)
      assert.is((await account.account()).backfill.unread, undefined)
    })
  }
})

moving('many that are never to be had end one sync, and the next gets past them', async () => {
  for (const ids of [
    ['c3', 'c13', 'c23', 'c33', 'c43'],
    ['c13', 'c14', 'c15', 'c16', 'c17', 'c18', 'c19'],
  ]) {
    await withAccount(listOf(60), async (account) => {
      for (const id of ids) account.broken.set(id, 200)
      let syncs = 0
      for (; syncs < 5; syncs++) {
        const ended = await account.read().catch((error: unknown) => error)
        if (ended === true) break
        assert.instance(ended, ProviderContractError)
      }
      assert.ok(syncs < 3, `${syncs} syncs ended`)
      assert.equal((await account.missing()).sort(), [...ids].sort())
    })
  }
})

moving('a conversation whose id nothing can be stored under is not asked for', async () => {
  const id = 'x'.repeat(LONGEST_EXTERNAL_ID + 1)
  await withAccount([...listOf(12), { id, at: listOf(1)[0]?.at ?? 0 }], async (account) => {
    assert.ok(await account.read())
    assert.equal(await account.missing(), [id])
    assert.not(account.fetched.includes(id))
  })
})

moving('a provider that serves no conversation ends the sync', async () => {
  await withAccount(listOf(60), async (account) => {
    for (const { id } of account.conversations) account.broken.set(id, 503)
    assert.instance(await account.read().catch((error: unknown) => error), ProviderUnavailableError)
    account.broken.clear()
    await readAll(account)
    assert.equal(await account.missing(), [])
  })
})

const move = fc.oneof(
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(70), count: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ kind: fc.constant('change' as const), at: fc.nat(70), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('add' as const), at: fc.constant(0), count: fc.integer({ min: 1, max: 12 }) }),
)
const history = fc.record({
  count: fc.integer({ min: 0, max: 90 }),
  /** So many conversations share one update time. */
  ties: fc.integer({ min: 1, max: 25 }),
  /** Of a sync: more than the way in and the end of a list take where its total is wrong. */
  pages: fc.integer({ min: 24, max: 40 }),
  cap: fc.constantFrom(10, 10, 7),
  totalOff: fc.constantFrom(0, 0, -20, 5),
  moves: fc.array(fc.record({ beforeCall: fc.nat(25), move }), { maxLength: 6 }),
})

moving(`whatever moves, everything is read in the end, as it is (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ count, ties, pages, cap, totalOff, moves }) => {
      const start = listOf(count).map((each, index) => ({ ...each, at: each.at - (index % ties) * -MINUTE }))
      await withAccount(start, async (account) => {
        account.cap = cap
        account.total = (real) => Math.max(0, real + totalOff)
        let now = (listOf(1)[0]?.at ?? 0) + 1000 * MINUTE
        let added = 0
        account.betweenCalls = (calls) => {
          for (const { move } of moves.filter(({ beforeCall }) => beforeCall === calls)) {
            const some = account.conversations.slice(move.at, move.at + move.count)
            if (move.kind === 'remove')
              remove(
                account,
                some.map(({ id }) => id),
              )
            if (move.kind === 'change')
              for (const each of some) Object.assign(each, { at: ++now, title: `changed at ${now}` })
            if (move.kind === 'add')
              for (let each = 0; each < move.count; each++)
                account.conversations.push({ id: `new${added++}`, at: ++now })
          }
        }
        await readAll(account, { pages })
        account.betweenCalls = () => undefined
        await readAll(account)
        assert.equal(await account.missing(), [])
        const stored = await account.stored()
        for (const { id, title = id } of account.conversations) assert.is(stored.get(id)?.title, title, id)
      })
    }),
    { seed: SEED, numRuns: 60, endOnFailure: false },
  )
})

moving.run()
