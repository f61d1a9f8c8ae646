import { createHmac } from 'node:crypto'

export const SECRET = 'whsec_test_secret_0123456789abcdef'

/** The signature header, made by hand as the specification says it. */
export function sign(body: string | Uint8Array, { secret = SECRET, at = Date.now() } = {}): string {
  const time = Math.floor(at / 1000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')}`
}

export function eventBody(deliveryId: string, { event = 'data.imported', ...payload }: Record<string, unknown> = {}) {
  return JSON.stringify({ event, payload: { userRef: 'user-1', ...payload }, deliveryId })
}

export function post(url: string, body: string, signature = sign(body)): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-service-signature': signature }
  return fetch(url, { method: 'POST', headers, body })
}
