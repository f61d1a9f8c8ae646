import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { batched } from '../../schemas/batched.ts'
import { awaitCommand, writeDoneCommand } from '../../schemas/command/commands.ts'
import { connectDatabase, trusted } from '../../schemas/database.ts'
import { ensureUser, Users } from '../../schemas/user/user.ts'
import { testDatabase } from '../support/database.ts'
import { startDatabaseProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'

/** Far less than the driver waits for an answer on a connection that has fallen silent. */
const SOON = { giveUpMs: 15_000 }

const reads = suite('reads on a connection that falls silent')
const database = await testDatabase()
const proxy = await startDatabaseProxy(database.url)
const connection = await connectDatabase({ url: proxy.url })
reads.after(async () => {
  await connection.close()
  await proxy.stop()
  await database.drop()
})

/** What comes of it, soon. */
async function soon<T>(what: string, work: Promise<T>): Promise<T> {
  let ended = false
  const end = (): void => {
    ended = true
  }
  work.then(end, end)
  await until(what, () => ended, SOON)
  return work
}

reads('a batch that gets no answer holds up no other', async () => {
  const { _id } = await ensureUser({ appId: 'app-one', userRef: 'one', now: new Date() })
  const find = batched(async (ids: string[]) => {
    const found = await Users.find({ _id: trusted({ $in: ids }) }).lean()
    return ids.map((id) => found.find((each) => each._id === id)?.userRef)
  })
  const silence = proxy.silenceAfter('find', 'users')
  find(newId()).catch(() => undefined)
  await until('the silence', () => silence.lost())
  assert.is(await soon('the next batch', find(_id)), 'one')
})

reads('who waits for a command hears of its end all the same', async () => {
  const id = newId()
  const args = { userRef: 'test', message: 'x' }
  const by = { kind: 'operator', id: 'test' } as const
  const result = { deliveryId: null }
  const more = { appId: 'app-one', target: 'app-one', now: new Date(), events: [] }
  await writeDoneCommand({ id, kind: 'test-event', by, args, result, ...more })
  const silence = proxy.silenceAfter('find', 'commands')
  const waiting = awaitCommand({ id, clock: systemClock(), timeoutMs: 60_000 })
  assert.equal((await soon('its end', waiting))?.result, result)
  assert.ok(silence.lost())
})

reads.run()
