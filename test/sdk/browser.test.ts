import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { openVisitorBrowser, PHONE } from '../support/visitor.ts'

const sdk = suite('the module for pages')

const SMALLEST = 4 * 1024

let browser: Browser
let app: Server
let service: Server
let appUrl = ''
let serviceUrl = ''
let state = 'open'
let script = ''

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

sdk.before(async () => {
  const entry = fileURLToPath(new URL('../../sdk/src/browser.ts', import.meta.url))
  const { outputFiles } = await build({ entryPoints: [entry], write: false, minify: true, format: 'esm' })
  script = outputFiles[0]?.text ?? ''
  // As strict as the hosted page: no tie to whoever opened it.
  service = createServer((request, response) => {
    if (request.url === '/start/state')
      return response.setHeader('access-control-allow-origin', '*').end(JSON.stringify({ state }))
    if (request.url === '/cancel') {
      state = 'cancelled'
      return response.writeHead(303, { location: `${appUrl}/done?status=cancelled` }).end()
    }
    response.setHeader('content-type', 'text/html').setHeader('cross-origin-opener-policy', 'same-origin')
    response.end(`<title>hosted</title><a href="/cancel">Cancel</a>`)
  })
  app = createServer((request, response) => {
    if (request.url === '/module.js') return response.setHeader('content-type', 'text/javascript').end(script)
    response.setHeader('content-type', 'text/html')
    if (request.url?.startsWith('/done'))
      return response.end(`<title>done</title><script type="module">
import { finishConnect } from '/module.js'
document.body.append(finishConnect())
</script>`)
    response.end(`<title>app</title><button>Connect</button><p></p><script type="module">
import { openConnect } from '/module.js'
document.querySelector('button').onclick = () => openConnect({
  url: Promise.resolve('${serviceUrl}/start?token=x'),
  onEnd: (outcome) => { document.querySelector('p').textContent += outcome },
})
</script>`)
  })
  serviceUrl = await listen(service)
  appUrl = await listen(app)
  browser = await openVisitorBrowser()
})
sdk.after(async () => {
  await browser?.close()
  for (const server of [app, service]) {
    server?.closeAllConnections()
    server?.close()
  }
})

const outcome = (page: Page) => page.locator('p').textContent()

async function opened(options = {}) {
  state = 'open'
  const context = await browser.newContext(options)
  const page = await context.newPage()
  await page.goto(appUrl)
  const [popup] = await Promise.all([context.waitForEvent('page'), page.getByRole('button').click()])
  await popup.waitForURL(/\/start\?token=x/)
  return { context, page, popup }
}

sdk('is small', () => {
  assert.ok(script.length > 0 && script.length < SMALLEST, String(script.length))
})

for (const [where, options] of Object.entries({ 'a popup': {}, 'a tab on a phone': PHONE })) {
  sdk(`opens the flow in ${where}, and hears how it ended once`, async () => {
    const { context, page, popup } = await opened(options)
    assert.is(await popup.evaluate(() => window.opener), null)
    await popup.getByRole('link').click()
    await until('the end to be heard', async () => (await outcome(page)) === 'cancelled')
    await until('the window to be closed', () => popup.isClosed())
    assert.is(await outcome(page), 'cancelled')
    await context.close()
  })
}

sdk('a window that is closed is a flow that was cancelled', async () => {
  const { context, page, popup } = await opened()
  await popup.close()
  state = 'left'
  await until('the end to be heard', async () => (await outcome(page)) === 'cancelled')
  await context.close()
})

sdk('a page that says how it ended is not believed against the service', async () => {
  const { context, page } = await opened()
  const other = await context.newPage()
  await other.goto(`${appUrl}/done?status=connected`)
  await other.getByText('connected').waitFor()
  state = 'expired'
  await until('the end to be heard', async () => (await outcome(page)) !== '')
  assert.is(await outcome(page), 'expired')
  await context.close()
})

sdk('where no window may be opened the page itself goes there', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.addInitScript(() => {
    window.open = () => null
  })
  await page.goto(appUrl)
  await page.getByRole('button').click()
  await page.waitForURL(/\/start\?token=x/)
  await page.getByRole('link').click()
  await page.waitForURL(/\/done/)
  await page.getByText('cancelled').waitFor()
  assert.is(page.isClosed(), false)
  await context.close()
})

sdk.run()
