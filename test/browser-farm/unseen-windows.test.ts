import { suite } from 'uvu'
import { until } from '../support/until.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const unseen = suite('what Chromium would ask in a window of its own, which nobody sees, holds up no page')

/** The page counts the keys that it gets. Passkeys are of names, not of addresses: it goes on to `localhost`. */
const pages = (port: number) => ({
  '/': `<script>
if (location.hostname !== 'localhost') location.href = 'http://localhost:${port}/'
else tell('loaded')
const passkey = { challenge: new Uint8Array(32), rpId: 'localhost', allowCredentials: [], timeout: 600_000 }
const actions = {
  a: () => { location.href = 'app-of-ours://sign-in' },
  b: () => { location.href = '/app' },
  c: () => { document.body.append(Object.assign(document.createElement('iframe'), { src: 'app-of-ours://framed' })) },
  d: () => { location.href = 'tel:123' },
  p: () => { navigator.credentials.get({ publicKey: passkey }).catch(() => undefined) },
}
let keys = 0
addEventListener('keydown', ({ key }) => {
  tell('key ' + ++keys)
  actions[key]?.()
})
</script><h1>Login</h1>`,
})

let visit: Visit
let site: Visit['site']
let hosted: Visit['hosted']
unseen.before(async () => {
  visit = await visitOwnSite({
    pages,
    redirects: () => ({ '/app': 'app-of-ours://code' }),
    allowedHosts: ['127.0.0.1', 'localhost'],
  })
  ;({ site, hosted } = visit)
  await visit.tells('loaded')
})
unseen.after(() => visit?.stop())

const keys = (): number => site.told.filter((what) => what.startsWith('key')).length

/** Chromium asks a moment later than it could: the page has to take several keys, one after the other. */
const takesKeys = async (): Promise<void> => {
  for (let time = 0; time < 10; time++) {
    const before = keys()
    await hosted.press('z')
    await until('the page to take a key', () => keys() > before)
  }
}

for (const [what, key] of Object.entries({
  'an address of another program': 'a',
  'a redirect to one': 'b',
  'a frame of one': 'c',
  'a telephone number': 'd',
  'a passkey': 'p',
})) {
  unseen(what, async () => {
    await hosted.press(key)
    await takesKeys()
  })
}

unseen.run()
