import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to the database that can be cut (`refuse`) or fall silent (`freeze`), as networks do. */
export interface DatabaseProxy {
  url: string
  refuse(): void
  freeze(): void
  restore(): void
  stop(): Promise<void>
}

/** Only for servers that are reached at one address. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl)
  let mode: 'open' | 'refused' | 'frozen' = 'open'
  const sockets = new Set<Socket>()
  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => mode === 'open' && to.write(bytes))
    from.on('close', () => to.destroy())
    from.on('error', () => to.destroy())
  }
  const server = createServer((socket) => {
    if (mode === 'refused') return void socket.destroy()
    const upstream = connect(Number(target.port || 27_017), target.hostname)
    for (const each of [socket, upstream]) {
      sockets.add(each)
      each.on('close', () => sockets.delete(each))
    }
    forward(socket, upstream)
    forward(upstream, socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    refuse: () => {
      mode = 'refused'
      cut()
    },
    freeze: () => {
      mode = 'frozen'
    },
    restore: () => {
      mode = 'open'
      cut()
    },
    stop: async () => {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
