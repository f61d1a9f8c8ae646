import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openHintSocket } from '../../core/hint-socket.ts'
import { newId } from '../../core/ids.ts'
import { startHints } from '../../schemas/hints.ts'
import { followProcesses, type ProcessKind, ProcessRecords } from '../../schemas/operations/process-record.ts'
import { hear, wake } from '../../schemas/wakeups.ts'
import { connectedTestDatabase } from '../support/database.ts'
import { testRuntime } from '../support/runtime.ts'
import { until } from '../support/until.ts'

const hints = suite('hints to other processes')
const database = await connectedTestDatabase()
const runtime = testRuntime({ url: database.url })
const processes = followProcesses(runtime)
const own = await startHints(runtime, processes.live)
hints.after(async () => {
  await own.stop()
  await processes.stop()
  await database.stop()
})

/** Another process of the service, as its record names it, and what it hears. */
async function startOther(kind: ProcessKind) {
  const heard = new Set<string>()
  const socket = await openHintSocket({
    host: '127.0.0.1',
    port: 0,
    keys: runtime.keyring.deriveAll('hints'),
    hear: (text) => {
      for (const each of text.split(',')) heard.add(each)
    },
    ...runtime,
  })
  const now = new Date()
  const more = { pid: 1, host: 'other', healthPort: 1, startedAt: now, seenAt: now, state: 'running' as const }
  await ProcessRecords.create({ _id: newId(), kind, hintsAt: socket.at, ...more })
  return { heard, socket }
}

hints('each process hears of what concerns it', async () => {
  const others = { actors: await startOther('actors'), http: await startOther('http') }
  await until('both have heard', () => {
    wake('answers')
    wake('outboxes')
    return others.actors.heard.has('outboxes') && others.http.heard.has('answers')
  })
  assert.equal([...others.actors.heard], ['outboxes'])
  assert.equal([...others.http.heard], ['answers'])
  for (const { socket } of Object.values(others)) await socket.stop()
})

hints('what another process tells of ends a pause', async () => {
  const other = await startOther('http')
  const hearing = hear('answers')
  let paused = true
  const pause = hearing.pause(60_000).then(() => {
    paused = false
  })
  assert.ok(own.at)
  const to = own.at
  await until('the end of the pause', () => {
    other.socket.send('nonsense,answers', to)
    return !paused
  })
  await pause
  hearing.stop()
  await other.socket.stop()
})

hints.run()
