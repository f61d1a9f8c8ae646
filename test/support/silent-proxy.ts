import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A network between visitor and service that can fall silent: it takes everything and passes nothing, in both directions. */
export interface SilentProxy {
  freeze(): void
  /** Passes again; connections from before stay silent, as those of a network that was changed do. */
  restore(): void
  stop(): Promise<void>
}

export async function startSilentProxy({ port, target }: { port: number; target: number }): Promise<SilentProxy> {
  let frozen = false
  const sockets = new Set<Socket>()
  const silent = new WeakSet<Socket>()
  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => {
      if (frozen) {
        silent.add(from)
        silent.add(to)
      }
      if (!silent.has(from)) to.write(bytes)
    })
    from.on('close', () => {
      if (!silent.has(from)) to.destroy()
    })
    from.on('error', () => from.destroy())
  }
  const server = createServer((socket) => {
    const upstream = connect(target, '127.0.0.1')
    for (const each of [socket, upstream]) {
      sockets.add(each)
      each.on('close', () => sockets.delete(each))
    }
    forward(socket, upstream)
    forward(upstream, socket)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    freeze: () => {
      frozen = true
    },
    restore: () => {
      frozen = false
    },
    stop: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
