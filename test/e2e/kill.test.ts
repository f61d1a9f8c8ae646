import { MongoClient } from 'mongodb'
import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { signLink } from '../../sdk/src/index.ts'
import type { Overview } from '../../wire/ops.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser, signIn } from '../support/visitor.ts'

const kill = suite('kill -9 in the middle')

/** Big enough that the first sync is still under way when its process dies. */
const CONVERSATIONS = 400

let service: Service
let browser: Browser
let receiver: Receiver
/** While closed, every delivery is answered 503, so that one is under way when its process dies. */
let open = true
kill.before(async () => {
  receiver = await startReceiver({ answer: () => (open ? 204 : 503) })
  service = await startService({ env: { TIME_SCALE: '60', WEBHOOK_URL: receiver.url, HTTP_PROCESSES: '2' } })
  browser = await openVisitorBrowser()
})
kill.after(async () => {
  await browser?.close()
  await service?.stop()
  await receiver?.stop()
})

kill('each process says how it is on a health port of its own', async () => {
  const processDetails = await until('all of them to be seen running', async () => {
    const { processDetails: seen } = await service.ops<Overview>('overview')
    return seen.length === 4 && seen.every(({ state }) => state === 'running') ? seen : null
  })
  assert.equal(processDetails.map(({ kind }) => kind).toSorted(), ['actors', 'browser-farm', 'http', 'http'])
  assert.is(new Set(processDetails.map(({ healthPort }) => healthPort)).size, processDetails.length)
  for (const { kind, healthPort } of processDetails) {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      assert.is((await fetch(`http://127.0.0.1:${healthPort}${path}`)).status, 200, `${kind} ${path}`)
  }
})

kill(
  'the actors process dies during the first sync and during deliveries: nothing is lost, nothing comes twice',
  async () => {
    const userRef = 'killed'
    const { url } = signLink({ ...service.app, userRef, baseUrl: service.baseUrl })
    const page = await browser.newPage()
    await page.goto(url)
    const hosted = hostedPage(page)
    await signIn(hosted, { email: `bulk-${CONVERSATIONS}@example.test` })
    await hosted.reaches('connected')
    await page.close()

    const database = new MongoClient(service.databaseUrl)
    try {
      const conversations = database.db().collection('conversations')
      await until('the first conversations', async () => (await conversations.countDocuments()) > 0)
      open = false
      await service.kill('actors')
      await until('another attempt of a delivery', () => receiver.requests.length > receiver.events().length)
      await service.kill('actors')
      open = true

      await until('the whole history', async () => (await conversations.countDocuments()) === CONVERSATIONS, {
        giveUpMs: 90_000,
      })
      const ids = await conversations.distinct('externalId')
      assert.is(ids.length, CONVERSATIONS)
      await until(
        'every conversation to be reported once',
        () =>
          receiver.named('data.imported').reduce((sum, { payload }) => sum + Number(payload['inserted']), 0) ===
          CONVERSATIONS,
        { giveUpMs: 60_000 },
      )
    } finally {
      await database.close()
    }
    assert.is(receiver.named('connect.started').length, 1)
    assert.is(receiver.named('connection.created').length, 1)
    for (const { payload } of receiver.named('data.imported')) {
      const { inserted, updated, unchanged, total } = payload as Record<string, number>
      assert.is(total, (inserted ?? 0) + (updated ?? 0) + (unchanged ?? 0))
    }
    const bodies = new Map<string, string>()
    for (const { deliveryId, rawBody } of receiver.requests) {
      assert.is(bodies.get(deliveryId) ?? rawBody, rawBody, 'every attempt sends the same bytes')
      bodies.set(deliveryId, rawBody)
    }
  },
)

kill.run()
