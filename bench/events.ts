import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { newId } from '../core/ids.ts'
import { signLink } from '../sdk/src/sign-link.ts'
import { NODE_ARGUMENTS } from '../start/node-arguments.ts'
import { startHttpProcess } from '../test/support/http-process.ts'
import { startEventReceiver } from './events/receiver.ts'
import { median, printLimit, printRow, rounded } from './row.ts'
import { startActorsProcess } from './scale/actors-process.ts'
import { BENCH_APP, startBenchService } from './support/service.ts'

/**
 * Events of a service at rest, one at a time, from the answer that caused each to the receiver; and how many a second go out where 32 callers
 * cause them. An http process and an actors process as the service's parent starts them; beside them the least that any service does.
 */
const ROUNDS = 3
const SINGLE = 20
/** Between two of them (ms): anywhere in what a process waits for between two looks. */
const REST = { least: 100, most: 400 }
const CALLERS = 32
const RATE_MS = 4_000
/** Until a process is at rest, V8's tidying up in the first minute included, and how long it is looked at then (ms). */
const IDLE = { after: 60_000, for: 15_000, most: 0.01 }

const receiver = await startEventReceiver()
const service = await startBenchService({ webhookUrl: receiver.url })
const actors = await startActorsProcess(service.env)
const http = await startHttpProcess({ ...service.env, PORT: '0' })
const floorProcess = fork(new URL('events/floor.ts', import.meta.url), [receiver.url], {
  env: { ...process.env, ...service.env },
  execArgv: NODE_ARGUMENTS,
})
const [floorUrl] = (await once(floorProcess, 'message')) as [string]

/** Causes one event; returns what its arrival is known by. */
type Cause = () => Promise<string>

async function ask<T>(
  pool: Pool,
  path: string,
  { body = {}, headers = {} }: { body?: object; headers?: object },
): Promise<T> {
  const options = {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  } as const
  const answer = await pool.request(options)
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`${path} answers ${answer.statusCode}: ${text}`)
  return JSON.parse(text) as T
}

const pool = new Pool(http.url, { connections: CALLERS })
const floorPool = new Pool(floorUrl, { connections: CALLERS })
const floor: Cause = async () => (await ask<{ deliveryId: string }>(floorPool, '/', {})).deliveryId
const operator = { authorization: `Bearer ${service.env['OPERATOR_KEY']}` }
const testEvent: Cause = async () =>
  (await ask<{ deliveryId: string }>(pool, `/ops/apps/${BENCH_APP}/test-event`, { headers: operator })).deliveryId
/** A native app begins a flow: `connect.started`. */
const connectStarted: Cause = async () => {
  const userRef = newId()
  const { appId, appSecret } = service.secrets
  const { token } = signLink({ appId, appSecret, userRef, baseUrl: http.url })
  await ask(pool, '/api/connect-native', { body: { action: 'start', token } })
  return userRef
}

const rest = (): Promise<void> => sleep(REST.least + Math.random() * (REST.most - REST.least))

/** How long (ms) each of some events took to the receiver. */
async function latencies(cause: Cause, since: 'request' | 'answer'): Promise<number[]> {
  const taken: number[] = []
  for (let made = 0; made < SINGLE; made++) {
    await rest()
    const began = performance.now()
    const caused = await cause()
    const from = since === 'answer' ? performance.now() : began
    taken.push(Math.max(0, (await receiver.arrival(caused)) - from))
  }
  return taken
}

/** Events a second, until the last that was caused has arrived. */
async function rate(cause: Cause): Promise<number> {
  const began = performance.now()
  const caused: string[] = []
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (performance.now() - began < RATE_MS) caused.push(await cause())
    }),
  )
  await Promise.all(caused.map(receiver.arrival))
  return caused.length / ((performance.now() - began) / 1_000)
}

const single = { ours: [] as number[], tests: [] as number[], floor: [] as number[] }
const rates = { ours: [] as number[], floor: [] as number[] }
await Promise.all([latencies(connectStarted, 'answer'), latencies(testEvent, 'request'), latencies(floor, 'request')])
for (let round = 0; round < ROUNDS; round++) {
  single.ours.push(...(await latencies(connectStarted, 'answer')))
  single.tests.push(...(await latencies(testEvent, 'request')))
  single.floor.push(...(await latencies(floor, 'request')))
}
for (let round = 0; round < ROUNDS; round++) {
  rates.ours.push(await rate(testEvent))
  rates.floor.push(await rate(floor))
}

printRow({
  what: 'one event, from the answer that caused it to the receiver, p50',
  ours: `${rounded(median(single.ours))} ms`,
  floor: `${rounded(median(single.floor))} ms`,
  ratio: median(single.ours) / median(single.floor),
  // 15 ms where the floor, from the request to the receiver, takes one.
  goal: { atMost: 15 },
})
printRow({
  what: 'one test event, from the request to the receiver, p50',
  ours: `${rounded(median(single.tests))} ms`,
  floor: `${rounded(median(single.floor))} ms`,
  ratio: median(single.tests) / median(single.floor),
  goal: { atMost: 15 },
})
printRow({
  what: `test events by ${CALLERS} callers, until the last has arrived`,
  ours: `${rounded(median(rates.ours))}/s`,
  floor: `${rounded(median(rates.floor))}/s`,
  ratio: median(rates.ours) / median(rates.floor),
  // 500/s where the floor makes 4,000/s.
  goal: { atLeast: 0.125 },
})

await sleep(IDLE.after)
const load = await actors.load(IDLE.for)
printLimit({ what: 'an idle actors process, of a core', value: load, most: IDLE.most, unit: '' })

floorProcess.disconnect()
await Promise.all([pool.close(), floorPool.close()])
await http.stop()
await actors.stop()
await receiver.stop()
await service.stop()
