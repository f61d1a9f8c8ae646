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

/** A port of loopback that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
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
