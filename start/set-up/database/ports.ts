import { connect, createServer } from 'node:net'
import type { Clock } from '../../../core/clock.ts'

const HOST = '127.0.0.1'

/** Resolves to the port, or undefined where it is taken; 0 picks a free one. */
function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ port, host: HOST }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined))
    })
  })
}

/**
 * Below what the system gives to outgoing connections (from 32768 on Linux, from 49152 elsewhere): while a server that was killed is
 * started again, any client on the machine may be given a port of those, and keep it.
 */
const FIRST_PORT = 10_240
const PORTS = 22_528
const TRIES = 50

/** A port of loopback that nobody listens on at this moment, and that no outgoing connection takes later. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = await tryPort(FIRST_PORT + Math.floor(Math.random() * PORTS))
    if (port !== undefined) return port
  }
  const port = await tryPort(0)
  if (port === undefined) throw new Error('no free port on 127.0.0.1')
  return port
}

/** The wanted port if it is, or within `waitMs` becomes, free: a server that was killed a moment ago may still be ending. */
export async function preferredPort({
  wanted,
  waitMs,
  clock,
}: {
  wanted: number | undefined
  waitMs: number
  clock: Clock
}): Promise<number> {
  const deadline = clock.elapsed() + waitMs
  while (wanted) {
    const port = await tryPort(wanted)
    if (port !== undefined) return port
    if (clock.elapsed() >= deadline) break
    await clock.sleep(100)
  }
  return freePort()
}

/** Rejects unless somebody listens on the port of loopback. */
export function listens(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: HOST })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })
}
