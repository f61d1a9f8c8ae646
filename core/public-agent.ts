import { isIP, type Socket } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { isPublicAddress } from './public-address.ts'
import { notPublic, publicLookup, type Resolve } from './public-lookup.ts'

interface PublicAgentOptions extends Omit<Agent.Options, 'connect'> {
  /** A sandbox on a developer's own machine. */
  allowPrivate: boolean
  connectMs: number
  /** Bytes that one answer may have on its way, with all that frames it: well above what is read of it. */
  mostBytes: number
  resolve?: Resolve | undefined
}

export const ANSWER_TOO_LARGE = 'ERR_ANSWER_TOO_LARGE'

/**
 * Connections to addresses that others name: to public ones only. A literal address is judged before it is connected to, since it is never looked
 * up, and a name inside the connection's own look-up (docs/security.md, The network). Whatever comes without an end ends its connection: a parser
 * passes over informational answers, extensions of chunks, leading zeros and empty lines without ever telling of them.
 */
export function createPublicAgent({
  allowPrivate,
  connectMs,
  mostBytes,
  resolve,
  ...options
}: PublicAgentOptions): Agent {
  const connector = buildConnector({
    timeout: connectMs,
    ...(!allowPrivate && { lookup: publicLookup({ resolve }) }),
  })
  const guarded: buildConnector.connector = (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '')
    if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) callback(notPublic(), null)
    else
      connector(target, (...connected) => {
        const [, socket] = connected
        if (socket) boundAnswers(socket, mostBytes)
        callback(...connected)
      })
  }
  return new Agent({ ...options, connect: guarded })
}

/** Ends a connection on which more comes than that after something was sent. */
function boundAnswers(socket: Socket, mostBytes: number): void {
  let sent = 0
  let before = 0
  let read = 0
  // Before the parser's own listener.
  socket.on('readable', () => {
    if (socket.bytesWritten !== sent) before = read
    sent = socket.bytesWritten
    read = socket.bytesRead
    if (read - before > mostBytes)
      socket.destroy(Object.assign(new Error('the answer is too large'), { code: ANSWER_TOO_LARGE }))
  })
}
