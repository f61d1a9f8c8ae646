import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type SilentProxy, startSilentProxy } from '../support/silent-proxy.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const offline = suite('a network that passes nothing')

const pages = () => ({
  '/': '<body><input autofocus><script>document.querySelector("input").oninput = ({ target }) => tell(target.value)</script>',
})

let visit: Visit
let network: SilentProxy
offline.before(async () => {
  visit = await visitOwnSite({
    pages,
    network: async (ends) => {
      network = await startSilentProxy(ends)
      return network
    },
  })
})
offline.after(() => visit?.stop())

offline('says so, keeps what is typed, and goes on by itself with all of it once and in order', async () => {
  const { hosted, page, site, tells } = visit
  await hosted.type('before')
  await tells('before')
  network.freeze()
  await hosted.type(' lost?')
  await hosted.reaches('waiting')
  await page.getByText('You may be offline').waitFor()
  await page.keyboard.type(' held')
  network.restore()
  await hosted.reaches('live')
  await page.keyboard.type(' after')
  await tells('before lost? held after')
  assert.is(site.told.filter((text) => text.startsWith('before')).at(-1), 'before lost? held after')
})

offline.run()
