import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * Has a request answered as if it asked for no upgrade, as RFC 9110, 7.8 lets a server: clients in wide use offer `h2c` with their first
 * request. Node has taken the socket from its parser by then, so the server gets the connection anew, and the request without that header.
 */
export function ignoreUpgrade({
  server,
  request: { method, url, httpVersion, rawHeaders },
  socket,
  head,
}: {
  server: Server
  request: IncomingMessage
  socket: Duplex
  head: Buffer
}): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}
