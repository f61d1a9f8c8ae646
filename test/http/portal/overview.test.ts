import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { seedConnection } from '../../support/seed.ts'
import { until } from '../../support/until.ts'
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

overview('somebody of several apps goes from one to the other, and to no third', async () => {
  for (const appId of ['one', 'two', 'three']) await world.makeApp(appId)
  for (const appId of ['one', 'two']) await world.join(appId, 'both@example.test', 'owner')
  const both = await world.signedIn('both@example.test')
  const page = await both.get('/developers/switch?app=two')
  assert.equal([page.status, page.location], [303, '/developers/apps/two/overview'])
  assert.is((await both.get('/developers/switch?app=three')).status, 404)
})

overview.run()
