import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Returns what tells how many connections a server has. One that comes anew (http/stream/ignore-upgrade.ts), as often as its client likes, is one. */
export function openConnections(server: Server): () => number {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    if (open.has(socket)) return
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => open.size
}
