import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPortalWorld } from './world.ts'

const https = suite('the portal and TLS')

https('over https the cookie is of this host alone', async () => {
  const world = await startPortalWorld({ env: { BASE_URL: 'https://portal.example' } })
  try {
    await world.makeApp('notes')
    await world.join('notes', 'ada@example.test', 'owner')
    const visitor = world.visitor()
    const headers = { origin: 'https://portal.example' }
    await visitor.get((await world.link('ada@example.test')).replace('https://portal.example', ''))
    await visitor.get('/developers/sign-in/confirm')
    const page = await visitor.post('/developers/sign-in/confirm', {}, { headers })
    assert.is(page.status, 200)
    const [line = ''] = visitor.setCookie.filter((each) => each.includes('ccs_portal=')).slice(-1)
    assert.match(line, /^__Host-ccs_portal=[\w-]{43};/)
    for (const attribute of ['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/']) assert.match(line, attribute)
    assert.not.match(line, 'Domain')
  } finally {
    await world.stop()
  }
})

https('over plain http it is open on loopback only', async () => {
  const world = await startPortalWorld({ env: { BASE_URL: 'http://portal.example' } })
  try {
    const page = await world.visitor().get('/developers/sign-in')
    assert.equal([page.status, page.headers.getSetCookie()], [403, []])
    assert.match(page.alert ?? '', 'https')
  } finally {
    await world.stop()
  }
})

https.run()
