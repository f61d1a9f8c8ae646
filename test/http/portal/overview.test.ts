import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DailyCounts } from '../../../schemas/app/daily-count.ts'
import { seedConnection } from '../../support/seed.ts'
import { until } from '../../support/until.ts'
import { seedMonth } from './seed.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const overview = suite('the overview of the portal')
let world: PortalWorld

overview.before(async () => {
  world = await startPortalWorld()
})
overview.after(() => world.stop())

overview('requests are counted by day; the deprecated use of the app secret is shown with its end', async () => {
  const { apiKey, appSecret } = await world.makeApp('notes')
  await world.join('notes', 'ada@example.test', 'developer')
  await seedConnection({ appId: 'notes', userRef: 'u' })
  const ada = await world.signedIn('ada@example.test')
  const show = () => ada.get('/developers/apps/notes/overview')
  assert.match((await show()).text, 'Nothing counted yet')
  for (const word of ['endpoint', 'key', 'link', 'connection', 'delivery']) assert.match((await show()).text, word)
  assert.not.match((await show()).text, 'Deprecated')
  for (const key of [apiKey, apiKey, appSecret]) {
    const answer = await fetch(`${world.url}/api/connections?userRef=u`, {
      headers: { authorization: `Bearer ${key}` },
    })
    assert.is(answer.status, 200)
  }
  await until('the requests show', async () => (await show()).text.includes('3 in 30 days'))
  assert.match((await show()).text, /Deprecated:.*31 December 2026/s)
  const keys = await ada.get('/developers/apps/notes/keys')
  assert.not.match(keys.text, 'Never')
})

overview('each chart has its numbers behind it; the steps go once the first delivery is there', async () => {
  await world.makeApp('busy')
  await world.join('busy', 'ada@example.test', 'developer')
  const ada = await world.signedIn('ada@example.test')
  const show = async () => (await ada.get('/developers/apps/busy/overview')).text
  assert.match(await show(), '1 of 5 steps are done')
  await seedMonth('busy')
  const text = await show()
  assert.not.match(text, 'Get started')
  const days = await DailyCounts.find({ appId: 'busy' }).sort({ day: -1 }).lean()
  const table = (caption: string) =>
    text.split(`<caption class="unseen">${caption}</caption>`)[1]?.split('</table>')[0] ?? ''
  const cells = (caption: string) => [...table(caption).matchAll(/<td[^>]*>([^<]*)</g)].map(([, cell]) => cell)
  const number = (value = 0) => value.toLocaleString('en')
  assert.equal(
    cells('Requests by day'),
    days.flatMap(({ day, requests, refused }) => [day, number(requests), number(refused)]),
  )
  assert.equal(
    cells('Failed attempts by day'),
    days.flatMap(({ day, failed, discarded }) => [day, number(failed), number(discarded)]),
  )
  assert.is(text.match(/<svg class="chart"[^>]*aria-hidden="true"/g)?.length, 4)
})

overview('no page shows what anybody wrote', async () => {
  const ada = await world.signedIn('ada@example.test')
  const list = await ada.get('/developers/apps/busy/users?q=customer-1001')
  const [, path = ''] = /href="(\/developers\/apps\/busy\/users\/[\w-]{36})"/.exec(list.text) ?? []
  const { text, status } = await ada.get(path)
  assert.is(status, 200)
  assert.match(text, 'customer-1001')
  assert.not.match(text, /Conversation \d|Hello \d/)
})

overview('somebody of several apps goes from one to the other, and to no third', async () => {
  for (const appId of ['one', 'two', 'three']) await world.makeApp(appId)
  for (const appId of ['one', 'two']) await world.join(appId, 'both@example.test', 'owner')
  const both = await world.signedIn('both@example.test')
  const page = await both.get('/developers/switch?app=two')
  assert.equal([page.status, page.location], [303, '/developers/apps/two/overview'])
  assert.is((await both.get('/developers/switch?app=three')).status, 404)
})

overview.run()
