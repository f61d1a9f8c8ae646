import type { Duplex } from 'node:stream'

/**
 * Answers an upgrade or a tunnel that is refused, and ends its socket. From the upgrade on no time-out of the HTTP server applies to the
 * socket, and a stranger who never hangs up would keep it for ever: it is destroyed once the answer is out.
 */
export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}
