import { createRequire } from 'node:module'
import type { Socket } from 'node:net'

type DriverConnection = new (socket: Socket, options: object) => object

/** The driver keeps its connection's type to itself, and takes another one as the option `connectionType`. */
const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
  Connection: DriverConnection
}

/**
 * The driver's connection, whose statements end when it closes. The driver (7.8 and 7.9) waits for `drain` alone where a socket takes no more
 * bytes, and a socket that has been destroyed never drains: a statement that begins just then, or is being written, would be waited for
 * for ever. Where it is the monitor's, the driver would think the database away for ever.
 */
export class EndingConnection extends Connection {
  constructor(socket: Socket, options: object) {
    super(socket, options)
    // The driver's own listener comes first: by now the connection has its error, which is what a writer that goes on finds.
    socket.once('close', () => socket.emit('drain'))
  }
}
