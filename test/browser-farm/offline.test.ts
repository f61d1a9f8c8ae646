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
  const typed = 'before lost? held after'
  await tells(typed)
  // The page tells of each letter on its own, and not always in their order.
  assert.equal(
    site.told.filter((text) => !typed.startsWith(text)),
    [],
  )
})

offline.run()
