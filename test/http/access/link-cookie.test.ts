import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { signLink } from '../../../sdk/src/index.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'

let world: HttpWorld
test.before(async () => {
  world = await startHttpWorld({ env: { BASE_URL: 'https://connect.example' } })
})
test.after(() => world.stop())

const PAGES = [
  { path: '/start', name: 'ccs_start', purpose: 'connect' },
  { path: '/manage', name: 'ccs_manage', purpose: 'manage' },
] as const

for (const { path, name, purpose } of PAGES) {
  test(`under https the cookie of ${path} is one that no other host can plant`, async () => {
    const { token } = signLink({
      appId: 'app-one',
      appSecret: world.one.appSecret,
      purpose,
      baseUrl: world.url,
      userRef: 'someone',
    })
    const taken = await fetch(`${world.url}${path}?token=${token}`, { redirect: 'manual' })
    const [line = '', ...more] = taken.headers.getSetCookie()
    assert.equal(more, [])
    const [pair = '', ...attributes] = line.split('; ')
    assert.ok(pair.startsWith(`__Host-${name}=`), pair)
    for (const attribute of ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax']) assert.ok(attributes.includes(attribute))
    assert.not.ok(attributes.some((attribute) => attribute.startsWith('Domain')))

    const look = async (cookie: string) => {
      const response = await fetch(`${world.url}${path}`, { headers: { cookie } })
      return { status: response.status, text: await response.text() }
    }
    assert.is((await look(pair)).status, 200)
    const planted = await look(pair.replace('__Host-', ''))
    assert.is(planted.status, 400, 'a name that every sibling host may set')
    assert.match(planted.text, 'This page opens from a link of the app')
    assert.is((await look(`${name}=planted; ${pair}`)).status, 200)
  })
}

test.run()
