import { createHmac } from 'node:crypto'

export const EVENT_HEADER = 'X-Service-Event'
export const SIGNATURE_HEADER = 'X-Service-Signature'

/** `t=<unix seconds>,v1=<hmac hex>`, one `v1` for each valid secret (docs/behaviour.md, Events); undefined without a secret. */
export function signatureOf({
  body,
  secrets,
  now,
}: {
  body: Buffer
  secrets: string[]
  now: Date
}): string | undefined {
  if (secrets.length === 0) return undefined
  const time = Math.floor(now.getTime() / 1_000)
  const signatures = secrets.map((secret) => createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex'))
  return [`t=${time}`, ...signatures.map((signature) => `v1=${signature}`)].join(',')
}
