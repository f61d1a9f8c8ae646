import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../core/clock.ts'
import { connectDatabase, connectedDatabase, databaseAnswers } from '../../schemas/database.ts'
import { testDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

/** More than a socket takes at once. */
const LARGE = 12 * 1024 * 1024
/** Every connection that the driver opens, its monitor's too. */
const sockets = new Set<Socket>()
const SOCKETS = 'net.client.socket'
const collect = (message: unknown): void => void sockets.add((message as { socket: Socket }).socket)

const closing = suite('connections that close')
const database = await testDatabase()
subscribe(SOCKETS, collect)
const connection = await connectDatabase({ url: database.url })
closing.after(async () => {
  unsubscribe(SOCKETS, collect)
  await connection.close()
  await database.drop()
})

const destroyAll = (): void => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
}
const ping = () => connectedDatabase().admin().ping()

/** Resolves once there is an answer or an error. */
const end = (answer: Promise<unknown>): Promise<unknown> => {
  let ended = false
  answer.catch(() => undefined).finally(() => (ended = true))
  return until('an answer or an error', () => ended)
}

closing('what is asked on one that is closing has an end', async () => {
  await ping()
  destroyAll()
  await end(ping())
})

closing('what is being written on one that closes has an end', async () => {
  await ping()
  const inserted = connectedDatabase()
    .collection('large')
    .insertOne({ text: 'x'.repeat(LARGE) })
  await setImmediate()
  destroyAll()
  await end(inserted)
})

closing('the database is found again', async () => {
  destroyAll()
  await until('its answer', () => databaseAnswers({ clock: systemClock() }))
  assert.ok(await ping())
})

closing.run()
