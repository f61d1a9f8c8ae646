import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startActors } from '../../actors/start-actors.ts'
import { newId } from '../../core/ids.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { writeCommand } from '../../schemas/command/commands.ts'
import { connectDatabase } from '../../schemas/database.ts'
import { createIndexes } from '../../schemas/indexes.ts'
import { wake } from '../../schemas/wakeups.ts'
import { testDatabase } from '../support/database.ts'
import { startDatabaseProxy } from '../support/proxy.ts'
import { testRuntime } from '../support/runtime.ts'
import { until } from '../support/until.ts'

/** Far less than the driver waits for an answer on a connection that has fallen silent. */
const SOON = { giveUpMs: 15_000 }

const silent = suite('one connection to the database that falls silent')
const database = await testDatabase()
const proxy = await startDatabaseProxy(database.url)
const connection = await connectDatabase({ url: proxy.url })
await createIndexes()
const runtime = testRuntime({ url: database.url })
const actors = await startActors(runtime)
let stopped = false
silent.after(async () => {
  if (!stopped) await actors.stop()
  await connection.close()
  await proxy.stop()
  await database.drop()
})

const write = () =>
  writeCommand({
    kind: 'sync-now',
    appId: 'app-one',
    target: newId(),
    by: { kind: 'operator', id: 'test' },
    now: new Date(),
    args: { connectionId: newId() },
  })
const done = (id: string) =>
  until(
    'the end of the command',
    async () => {
      const command = await Commands.findById(id).lean<Command>()
      return command?.state === 'done' ? command : null
    },
    SOON,
  )

silent('what was claimed beside the look that gets no answer is begun', async () => {
  await done(await write())
  const silence = proxy.silenceAfter('find', 'commands', 'purge')
  const { fence, crashes } = await done(await write())
  assert.ok(silence.lost())
  assert.equal([fence, crashes], [1, 0])
})

silent('a claim whose answer never comes is begun all the same, and no crash', async () => {
  for (const lose of [proxy.silenceAfter, proxy.loseAnswerTo]) {
    const loss = lose('update', 'commands', 'claimedBy', 'fence')
    const { fence, crashes } = await done(await write())
    assert.ok(loss.lost())
    assert.equal([fence, crashes], [1, 0])
  }
})

silent('what is written while a look gets no answer is found by another', async () => {
  const silence = proxy.silenceAfter('find', 'commands', 'purge')
  await until('the silence', () => {
    wake('commands')
    return silence.lost()
  })
  await done(await write())
})

silent('its process hands back what it holds in time', async () => {
  const silence = proxy.silenceAfter('find', 'commands', 'purge')
  await until('the silence', () => {
    wake('commands')
    return silence.lost()
  })
  const read = proxy.silenceAfter('find', 'wakeups')
  await until('the silence of another', () => read.lost())
  void actors.stop().then(() => {
    stopped = true
  })
  await until('the stop', () => stopped, SOON)
})

silent.run()
