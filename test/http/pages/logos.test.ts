import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../core/clock.ts'
import { createPublicAgent } from '../../../core/public-agent.ts'
import { fetchLogo } from '../../../http/pages/kit/fetch-logo.ts'
import { Apps } from '../../../schemas/app/app.ts'
import { APP_ID, type ManageWorld, startManageWorld } from './manage-world.ts'

const logos = suite('logos of apps')
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const ANSWERS: Record<string, { status?: number; headers?: Record<string, string>; body?: Buffer | string }> = {
  '/logo.png': { headers: { 'content-type': 'image/png' }, body: PNG },
  '/logo.svg': { headers: { 'content-type': 'image/svg+xml' }, body: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
  '/page.png': { headers: { 'content-type': 'image/png' }, body: '<html><script>alert(1)</script></html>' },
  '/text.svg': { headers: { 'content-type': 'text/html' }, body: '<svg onload="alert(1)"/>' },
  '/large.png': { headers: { 'content-type': 'image/png' }, body: Buffer.concat([PNG, Buffer.alloc(300_000)]) },
  '/moved.png': { status: 302, headers: { location: '/logo.png' } },
  '/round.png': { status: 302, headers: { location: '/round.png' } },
  '/gone.png': { status: 404, body: PNG },
}
let asked: string[] = []
let host: Server
let hostUrl: string
let world: ManageWorld

logos.before(async () => {
  host = createServer(({ url = '' }, response) => {
    asked.push(url)
    const { status = 200, headers = {}, body = '' } = ANSWERS[url] ?? {}
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  hostUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
  world = await startManageWorld()
})
logos.after(async () => {
  await world.stop()
  host.closeAllConnections()
  await new Promise((resolve) => host.close(resolve))
})
logos.before.each(() => {
  asked = []
})

/** The address of the logo on the page of a visitor, once the app has this one. */
async function shown(path: string): Promise<string> {
  await Apps.updateOne({ _id: APP_ID }, { $set: { logoUrl: `${hostUrl}${path}` } })
  const page = await world.visitor().open(world.token('ada'))
  assert.match(page.headers.get('content-security-policy') ?? '', "img-src 'self' data:;")
  assert.not.match(page.text, hostUrl)
  return /<img class="logo" src="([^"]*)"/.exec(page.text)?.[1] ?? ''
}

const get = async (path: string) => {
  const answer = await fetch(`${world.url}${path}`)
  return {
    status: answer.status,
    type: answer.headers.get('content-type') ?? '',
    policy: answer.headers.get('content-security-policy') ?? '',
    bytes: Buffer.from(await answer.arrayBuffer()),
  }
}

logos('a logo comes from our own origin, fetched once for everybody', async () => {
  const path = await shown('/logo.png')
  const all = await Promise.all(Array.from({ length: 20 }, () => get(path)))
  assert.ok(all.every(({ status, type, bytes }) => status === 200 && type === 'image/png' && bytes.equals(PNG)))
  assert.equal(asked, ['/logo.png'])
  assert.is((await get(await shown('/moved.png'))).type, 'image/png')
  const drawing = await get(await shown('/logo.svg'))
  assert.match(drawing.type, 'image/svg+xml')
  assert.match(drawing.policy, "default-src 'none'")
  assert.match(drawing.policy, 'sandbox')
})

for (const path of ['/page.png', '/text.svg', '/large.png', '/round.png', '/gone.png']) {
  logos(`what is no logo is not served: ${path} is the first letter`, async () => {
    const { status, type, bytes, policy } = await get(await shown(path))
    assert.equal([status, type], [200, 'image/svg+xml'])
    assert.match(bytes.toString(), />A<\/text>/)
    assert.not.match(bytes.toString(), 'alert')
    assert.match(policy, 'sandbox')
  })
}

logos('only the present logo of an app is fetched', async () => {
  const before = await shown('/logo.png')
  const now = await shown('/logo.svg')
  asked = []
  for (const path of [before, now.replace(APP_ID, 'nobody'), `${now}0`]) assert.is((await get(path)).status, 404)
  assert.equal(asked, [])
})

logos('a private address is asked nothing', async () => {
  const agent = createPublicAgent({ allowPrivate: false, connectMs: 1_000, mostBytes: 1_000 })
  const clock = systemClock()
  const { port } = new URL(hostUrl)
  for (const url of [
    `${hostUrl}/logo.png`,
    `https://127.0.0.1:${port}/logo.png`,
    `https://localhost:${port}/logo.png`,
  ]) {
    assert.is(await fetchLogo({ url, agent, allowPrivate: false, clock }), null)
  }
  await agent.close()
  assert.equal(asked, [])
})

logos.run()
