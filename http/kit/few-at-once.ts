import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'

/** Browsers and proxies wait for an answer before they ask again on one connection. */
const MOST_AT_ONCE = 16

/**
 * Ends a connection that asks and asks without waiting for answers (RFC 9112, 9.3.2): node reads a thousand requests out of one packet, and
 * every answer waits in memory for the one before it.
 */
export function fewAtOnce(): RequestHandler {
  const unanswered = new WeakMap<Socket, number>()
  return ({ socket }, response, next) => {
    const count = (unanswered.get(socket) ?? 0) + 1
    if (count > MOST_AT_ONCE) return void socket.destroy()
    unanswered.set(socket, count)
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1))
    next()
  }
}
