import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import type { Visitor } from './visitor.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const endpoint = suite('the endpoint of an app')
const WEBHOOKS = '/developers/apps/notes/webhooks'
const ANSWER = `<b>${'answer '.repeat(600)}`
let backend: Server
let url: string
let status = 200

endpoint.before(async () => {
  backend = createServer((request, response) =>
    request.resume().on('end', () => response.writeHead(status).end(ANSWER)),
  )
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/hooks`
})
endpoint.after(async () => {
  backend.closeAllConnections()
  await new Promise((resolve) => backend.close(resolve))
})

async function inWorld(env: Record<string, string>, run: (developer: Visitor) => Promise<void>): Promise<void> {
  const world: PortalWorld = await startPortalWorld({ env })
  try {
    await world.makeApp('notes')
    await world.join('notes', 'dev@example.test', 'developer')
    const developer = await world.signedIn('dev@example.test')
    await developer.get(WEBHOOKS)
    await run(developer)
  } finally {
    await world.stop()
  }
}

const saved = async () => (await Apps.findById('notes').lean())?.webhookUrl

endpoint('a test event shows status, time and the first KiB of the answer', () =>
  inWorld({}, async (developer) => {
    const none = await developer.post(`${WEBHOOKS}/test`)
    assert.is(none.status, 400)
    assert.match(none.alert ?? '', 'no endpoint yet')
    assert.match((await developer.post(`${WEBHOOKS}/endpoint`, { webhookUrl: url })).said ?? '', /200 in \d+ ms/)
    for (status of [200, 500]) {
      const page = await developer.post(`${WEBHOOKS}/test`)
      const [, answer = ''] = /<h3>Answer<\/h3><pre[^>]*>([^<]*)<\/pre>/.exec(page.text) ?? []
      const shown = answer.replaceAll('&lt;', '<').replaceAll('&gt;', '>')
      assert.is(shown, ANSWER.slice(0, 1_024))
      assert.match(page.text, new RegExp(`<dt>Status</dt><dd>${status}</dd>`))
      assert.match(page.text, /<dt>Time<\/dt><dd>\d+(\.\d+)? ms<\/dd>/)
      assert.match((status === 200 ? page.said : page.alert) ?? '', `nswered ${status}`)
    }
    // One that does not take the event is saved, with a warning.
    const warned = await developer.post(`${WEBHOOKS}/endpoint`, { webhookUrl: `${url}/other` })
    assert.match(warned.alert ?? '', 'saved, but')
    assert.is(await saved(), `${url}/other`)
    await developer.post(`${WEBHOOKS}/endpoint`, { webhookUrl: '' })
    assert.is(await saved(), undefined)
  }),
)

endpoint('http and private addresses are refused where they are not allowed, and what was typed stays', () =>
  inWorld({ WEBHOOK_PRIVATE_ADDRESSES: 'false' }, async (developer) => {
    const refused = [
      url,
      url.replace('http:', 'https:'),
      'https://10.0.0.1/',
      'https://[::1]/',
      'https://localhost/',
      'https://user:word@example.com/',
      'https://',
    ]
    for (const webhookUrl of refused) {
      const page = await developer.post(`${WEBHOOKS}/endpoint`, { webhookUrl })
      assert.is(page.status, 400, webhookUrl)
      assert.ok(page.alert)
      assert.match(page.text, `value="${webhookUrl}"`)
    }
    assert.is(await saved(), undefined)
  }),
)

endpoint.run()
