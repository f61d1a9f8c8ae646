import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { SECOND } from '../../core/clock.ts'
import type { Keyring } from '../../core/envelope.ts'
import { newId, sameSecret } from '../../core/ids.ts'

/** How long a ticket may be used (machine time): http uses it at once. */
export const TICKET_MS = 30 * SECOND
const PURPOSE = 'stream-ticket'

const ticket = z.strictObject({ id: z.string(), leaseId: z.string(), nodeId: z.string(), expiresAt: z.number() })

/** Lets its bearer view one lease on one farm node, once. */
type StreamTicket = z.infer<typeof ticket>

const mac = (key: Buffer, body: string): string => createHmac('sha256', key).update(body).digest('base64url')

export function signTicket({
  leaseId,
  nodeId,
  keyring,
  now,
}: {
  leaseId: string
  nodeId: string
  keyring: Keyring
  now: Date
}): string {
  const content: StreamTicket = { id: newId(), leaseId, nodeId, expiresAt: now.getTime() + TICKET_MS }
  const body = Buffer.from(JSON.stringify(content)).toString('base64url')
  return `${body}.${mac(keyring.derive(PURPOSE), body)}`
}

/** The ticket, or null where it is forged, for another node, or too old. That it is used once is for the node to see to. */
export function readTicket({
  text,
  nodeId,
  keyring,
  now,
}: {
  text: string
  nodeId: string
  keyring: Keyring
  now: Date
}): StreamTicket | null {
  const [body = '', signature = ''] = text.split('.')
  if (!keyring.deriveAll(PURPOSE).some((key) => sameSecret(signature, mac(key, body)))) return null
  const content = ticket.parse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')))
  return content.nodeId === nodeId && content.expiresAt > now.getTime() ? content : null
}
