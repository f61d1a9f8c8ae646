import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ownState } from '../../browser-farm/own-state.ts'
import { providerProfile } from '../../provider/profile.ts'

const state = suite('what is kept of a browser')

const profile = providerProfile.parse({
  id: 'chat',
  displayName: 'Chat',
  loginUrl: 'https://auth.chat.test/login',
  cookieDomain: 'www.chat.test',
  cookieName: 'session',
  sessionUrl: 'https://www.chat.test/session',
  apiBaseUrl: 'https://api.chat.test/v1',
  allowedHosts: ['www.chat.test', 'auth.chat.test', 'accounts.idp.test', '*.idp.test'],
  pageSize: 10,
  requestsPerMinute: 60,
})
const cookie = (name: string, domain: string) => ({
  name,
  domain,
  value: 'v',
  path: '/',
  expires: -1,
  httpOnly: true,
  secure: true,
  sameSite: 'Lax' as const,
})

state('the provider’s own cookies and origins are kept, but the session; those of identity providers are not', () => {
  const own = [cookie('device', 'www.chat.test'), cookie('shared', '.chat.test'), cookie('login', 'auth.chat.test')]
  const others = [
    cookie('SID', '.idp.test'),
    cookie('device', 'accounts.idp.test'),
    cookie('device', 'evilwww.chat.test.idp.test'),
    cookie('session', 'www.chat.test'),
    cookie('session.0', '.chat.test'),
  ]
  const origins = ['https://www.chat.test', 'https://accounts.idp.test'].map((origin) => ({ origin, localStorage: [] }))
  const kept = ownState({ cookies: [...others, ...own], origins }, profile)
  assert.equal(kept.cookies, own)
  assert.equal(
    kept.origins.map(({ origin }) => origin),
    ['https://www.chat.test'],
  )
})

state.run()
