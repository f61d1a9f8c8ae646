import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A link between visitor and service that passes only so much in a second, as poor mobile networks do. */
export interface SlowProxy {
  /** Bytes a second towards the visitor, of all connections together; `Infinity`: what the machine does. */
  throttle(bytesPerSecond: number): void
  stop(): Promise<void>
}

/** What is passed on at a time: small enough that a change of the speed is felt at once. */
const PORTION = 4 * 1024
/** What a link's own queue holds. */
const QUEUE = 64 * 1024

export async function startSlowProxy({ port, target }: { port: number; target: number }): Promise<SlowProxy> {
  let bytesPerSecond = Number.POSITIVE_INFINITY
  const sockets = new Set<Socket>()
  /** One portion after the other: they share the link. */
  let link: Promise<unknown> = Promise.resolve()
  const cross = (bytes: Buffer, to: Socket): Promise<void> => {
    const crossed = link.then(async () => {
      if (to.destroyed) return
      if (bytesPerSecond !== Number.POSITIVE_INFINITY) await sleep((bytes.length / bytesPerSecond) * 1_000)
      if (!to.destroyed) to.write(bytes)
    })
    link = crossed
    return crossed
  }
  const toVisitor = (from: Socket, to: Socket): void => {
    let queued = 0
    from.on('data', (bytes) => {
      queued += bytes.length
      if (queued > QUEUE) from.pause()
      for (let start = 0; start < bytes.length; start += PORTION) {
        const portion = bytes.subarray(start, start + PORTION)
        void cross(portion, to).then(() => {
          queued -= portion.length
          if (queued <= QUEUE) from.resume()
        })
      }
    })
  }
  const server = createServer((visitor) => {
    const upstream = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [visitor, upstream],
      [upstream, visitor],
    ] as const) {
      sockets.add(one)
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.on('error', () => one.destroy())
    }
    visitor.on('data', (bytes) => upstream.write(bytes))
    toVisitor(upstream, visitor)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    throttle: (speed) => {
      bytesPerSecond = speed
    },
    stop: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
