import type { Model } from 'mongoose'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Commands } from '../../schemas/command/command.ts'
import { createIndexes } from '../../schemas/indexes.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import type { HasOutbox } from '../../schemas/outbox.ts'
import { outboxEntry } from '../../schemas/outbox.ts'
import { ConsumedLinks } from '../../schemas/user/consumed-link.ts'
import { connectedTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

/** The database looks for expired documents once a minute. */
const A_LOOK_MS = 150_000
const IN_A_WHILE = new Date('2100-01-01T00:00:00Z')
const LONG_AGO = new Date('2020-01-01T00:00:00Z')

const retention = suite('retention')
let database: Awaited<ReturnType<typeof connectedTestDatabase>>
retention.before(async () => {
  database = await connectedTestDatabase()
})
retention.after(() => database.stop())

const entry = outboxEntry({
  cause: 'long ago',
  appId: 'app-one',
  event: 'test.event',
  payload: { userRef: 'somebody', message: 'not sent yet' },
  at: LONG_AGO,
})
const told = { _id: 'told', outbox: [] }
const untold = { _id: 'untold', outbox: [entry], outboxAt: LONG_AGO }
const by = { kind: 'api-key', id: 'test' } as const

const link = { purpose: 'connect', flowId: 'flow', consumedAt: LONG_AGO, expireAt: LONG_AGO } as const
const command = {
  kind: 'purge',
  appId: 'app-one',
  target: 'user:somebody',
  by,
  args: { userRef: 'somebody' },
  state: 'done',
  fence: 0,
  crashes: 0,
  createdAt: LONG_AGO,
  doneAt: LONG_AGO,
} as const

retention('a document whose events nobody has relayed outlives its retention, whatever its age', async () => {
  await ConsumedLinks.create([
    { ...link, ...told },
    { ...link, ...untold },
  ])
  await Commands.create([
    { ...command, ...told },
    { ...command, ...untold },
  ])
  const models = [ConsumedLinks, Commands] as unknown as Model<HasOutbox & { _id: string }>[]
  for (const model of models)
    await until('the end of what was told', async () => !(await model.exists({ _id: 'told' })), {
      giveUpMs: A_LOOK_MS,
      everyMs: 500,
    })
  for (const model of models) assert.ok(await model.exists({ _id: 'untold' }), model.modelName)
})

retention(
  'an index of an earlier version that does not wait for the relay goes; what that wrote ends too',
  async () => {
    for (const [{ collection }, field] of [
      [ConsumedLinks, 'expireAt'],
      [Commands, 'doneAt'],
      [Leases, 'endedAt'],
    ] as const) {
      await collection.createIndex({ [field]: 1 }, { expireAfterSeconds: 0 })
      await collection.insertOne({ _id: 'early', [field]: IN_A_WHILE } as never)
      await createIndexes()
      // As everything that the new index ends.
      assert.equal((await collection.findOne({ _id: 'early' } as never))?.['outbox'], [])
      const names = (await collection.indexes()).map(({ name }) => name)
      assert.not.ok(names.includes(`${field}_1`))
      assert.is(names.filter((name) => name?.endsWith('_told')).length, 1)
    }
  },
)

retention.run()
