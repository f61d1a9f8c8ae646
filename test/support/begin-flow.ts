import * as assert from 'uvu/assert'
import type { HttpWorld } from './http.ts'

/** Opens a link and begins its flow as a browser's page does; no farm node takes it. Returns what the browser knows then. */
export async function beginFlow({
  world,
  token,
}: {
  world: Pick<HttpWorld, 'url' | 'runtime'>
  token: string
}): Promise<{ cookie: string; flow: string }> {
  const taken = await fetch(`${world.url}/start?token=${token}`, { redirect: 'manual' })
  const cookie = String(taken.headers.get('set-cookie')).split(';')[0] ?? ''
  const page = await fetch(`${world.url}/start`, { headers: { cookie } })
  const flow = /data-flow="([^"]*)"/.exec(await page.text())?.[1] ?? ''
  const answer = await fetch(`${world.url}/start`, {
    method: 'POST',
    headers: { cookie, origin: world.runtime.config.BASE_URL },
    body: JSON.stringify({ flow, viewport: { width: 800, height: 600, deviceScaleFactor: 1, mobile: false } }),
  })
  assert.is(answer.status, 200)
  return { cookie, flow }
}
