import type { Browser, BrowserContextOptions, Page } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { isTooWide, seriousProblems } from '../../support/axe.ts'
import { startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { openVisitorBrowser, PHONE } from '../../support/visitor.ts'
import { LONG_REF, seedMonth } from './seed.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const portal = suite('the portal in a browser')
const LONG_NAME = 'A very long name of an app that somebody thought was a good idea, and was not'

let world: PortalWorld
let browser: Browser

portal.before(async () => {
  world = await startPortalWorld()
  await world.makeApp('notes', { name: 'Notes' })
  await world.makeApp('fresh', { name: LONG_NAME })
  await seedMonth('notes')
  for (const appId of ['notes', 'fresh']) await world.join(appId, 'ada@example.test', 'owner')
  await world.join('notes', 'dev@example.test', 'developer')
  browser = await openVisitorBrowser()
})
portal.after(async () => {
  await browser.close()
  await world.stop()
})

async function mustBeGood(page: Page, what: string): Promise<void> {
  assert.equal(await seriousProblems(page), [], what)
  assert.not.ok(await isTooWide(page), `${what} is wider than the screen`)
}

const SECTIONS = ['Overview', 'Users', 'API keys', 'Webhooks', 'Team', 'Activity', 'Settings']
const SCREENS: Record<string, BrowserContextOptions> = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: PHONE,
  'narrow dark': { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
  'without scripts': { viewport: { width: 1280, height: 900 }, javaScriptEnabled: false },
}

async function signedIn(options: BrowserContextOptions, email = 'ada@example.test'): Promise<Page> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  await page.goto(await world.link(email))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  return page
}

for (const [screen, options] of Object.entries(SCREENS)) {
  const scripted = options.javaScriptEnabled !== false
  portal(`${screen}: every section of a full and of an empty app is reached and can be used by everybody`, async () => {
    const page = await signedIn(options)
    const problems: string[] = []
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    for (const name of ['Notes', LONG_NAME]) {
      await page.getByLabel('App', { exact: true }).selectOption({ label: name })
      await page.getByRole('button', { name: 'Switch' }).click()
      for (const section of SECTIONS) {
        await page.getByRole('link', { name: section, exact: true }).click()
        await page.getByRole('heading', { name: section, level: 1 }).waitFor()
        if (scripted) await mustBeGood(page, `${section} of ${name}`)
      }
    }
    assert.equal(problems, [])
    await page.context().close()
  })
}

portal('signing in, refusals and lost addresses', async () => {
  const context = await browser.newContext(SCREENS['phone'])
  const page = await context.newPage()
  await page.goto(`${world.url}/developers`)
  await mustBeGood(page, 'sign-in')
  await page.getByLabel('Work e-mail').fill('ada@example.test')
  await page.getByRole('button', { name: 'Send sign-in link' }).click()
  await page.getByRole('status').waitFor()
  await mustBeGood(page, 'sent')
  const link = await world.mailedLink('ada@example.test')
  await page.goto(link)
  assert.not.match(page.url(), 'token')
  await mustBeGood(page, 'confirmation')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.goto(link)
  await page.getByRole('alert').waitFor()
  await mustBeGood(page, 'a used link')
  await page.goto(`${world.url}/developers/apps/none/keys`)
  await page.getByRole('alert').waitFor()
  await mustBeGood(page, 'not found')
  await page.goto(`${world.url}/`)
  await page.getByRole('link', { name: 'Developer portal' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByLabel('Work e-mail').waitFor()
  await context.close()
})

portal('a key is shown once, works, and is refused once it is revoked', async () => {
  const page = await signedIn(SCREENS['desktop'] ?? {})
  await page.goto(`${world.url}/developers/apps/notes/keys`)
  await page.getByLabel('Name').fill('Staging <b>')
  await page.getByRole('button', { name: 'Create API key' }).click()
  const key = (await page.locator('[data-secret="apiKey"]').textContent()) ?? ''
  await mustBeGood(page, 'a secret')
  await page.reload()
  assert.is(await page.locator('[data-secret]').count(), 0)
  const ask = async () =>
    (await fetch(`${world.url}/api/connections?userRef=customer-1001`, { headers: { authorization: `Bearer ${key}` } }))
      .status
  assert.is(await ask(), 200)
  const row = page.getByRole('row', { name: 'Staging <b>' })
  await until('the use is noted', async () => {
    await page.reload()
    return (await row.getByText('Never').count()) === 0
  })
  await row.getByRole('button', { name: 'Revoke' }).click()
  await mustBeGood(page, 'revocation')
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByRole('status').waitFor()
  assert.is(await ask(), 401)
  await page.context().close()
})

portal('an endpoint is saved and tried out; deliveries are replayed; the secret is rotated', async () => {
  let status = 204
  const receiver = await startReceiver({ answer: () => status })
  try {
    const page = await signedIn(SCREENS['phone'] ?? {})
    await page.goto(`${world.url}/developers/apps/fresh/webhooks`)
    const save = async (url: string) => {
      await page.getByLabel('Endpoint URL').fill(url)
      await page.getByRole('button', { name: 'Save endpoint' }).click()
    }
    await save('ftp://nowhere.example/')
    await page.getByRole('alert').waitFor()
    await save(receiver.url)
    await page.getByRole('status').getByText('It answered a test event with 204').waitFor()
    status = 500
    await page.getByRole('button', { name: 'Send test event' }).click()
    await page.getByRole('alert').getByText('Answered 500').waitFor()
    await mustBeGood(page, 'a test event')
    status = 200
    await page.getByRole('region', { name: 'Recent deliveries' }).getByRole('link').first().click()
    await page.getByRole('region', { name: 'Attempts' }).waitFor()
    await mustBeGood(page, 'a delivery')
    const before = receiver.requests.length
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('status').waitFor()
    await until('it is sent again', () => receiver.requests.length > before)
    await page.getByRole('link', { name: 'Back to webhooks' }).click()
    await page.getByRole('button', { name: 'Rotate signing secret' }).click()
    await mustBeGood(page, 'rotation')
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.locator('[data-secret="webhookSecret"]').waitFor()
    assert.is((await Apps.findById('fresh').lean())?.webhookSecrets.length, 2)
    await page.getByRole('button', { name: 'End the old one now' }).click()
    await page.getByRole('status').waitFor()
    assert.is((await Apps.findById('fresh').lean())?.webhookSecrets.length, 1)
    await save('')
    await page.getByRole('status').getByText('taken away').waitFor()
    await page.context().close()
  } finally {
    await receiver.stop()
  }
})

portal('the team: inviting, resending, withdrawing, roles, removal, and a developer who only looks', async () => {
  const page = await signedIn(SCREENS['desktop'] ?? {})
  await page.goto(`${world.url}/developers/apps/notes/team`)
  await page.getByLabel('E-mail').fill('New.One@example.test')
  await page.getByRole('button', { name: 'Invite' }).click()
  // Mails may overtake one another: the first has to be there before there is a second.
  const first = await world.mailedLink('new.one@example.test', 1)
  const invited = page.getByRole('row', { name: 'new.one@example.test' })
  await invited.getByRole('button', { name: 'Resend' }).click()
  await page.getByRole('status').waitFor()
  await mustBeGood(page, 'an invitation')
  const second = await world.mailedLink('new.one@example.test', 2)
  assert.is((await world.visitor().signIn(first)).status, 403, 'the link of before ends')
  const joined = world.visitor()
  assert.is((await joined.signIn(second)).status, 200)
  await page.reload()
  const member = page.getByRole('row', { name: 'new.one@example.test' })
  await member.getByLabel('Role').selectOption('owner')
  await member.getByRole('button', { name: 'Change role' }).click()
  await page.getByRole('status').waitFor()
  await member.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('status').waitFor()
  assert.is((await joined.get('/developers/apps/notes/overview')).status, 303)
  await page.getByRole('row', { name: 'ada@example.test' }).getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('alert').getByText('at least one owner').waitFor()
  await page.getByLabel('E-mail').fill('never@example.test')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('row', { name: 'never@example.test' }).getByRole('button', { name: 'Withdraw' }).click()
  await page.getByRole('status').waitFor()
  assert.is((await world.visitor().signIn(await world.mailedLink('never@example.test'))).status, 403)
  await page.context().close()

  const developer = await signedIn(SCREENS['desktop'] ?? {}, 'dev@example.test')
  await developer.goto(`${world.url}/developers/apps/notes/team`)
  await developer.getByRole('row', { name: 'ada@example.test' }).waitFor()
  for (const name of ['Invite', 'Change role', 'Remove']) {
    assert.is(await developer.getByRole('button', { name }).count(), 0, name)
  }
  for (const section of SECTIONS) {
    await developer.getByRole('link', { name: section, exact: true }).click()
    await developer.getByRole('heading', { name: section, level: 1 }).waitFor()
    await mustBeGood(developer, `${section} for a developer`)
  }
  await developer.context().close()
})

portal('a user is found, and deleted once the reference is typed', async () => {
  const page = await signedIn(SCREENS['phone'] ?? {})
  await page.goto(`${world.url}/developers/apps/notes/users`)
  await page.getByLabel('User reference').fill('customer-100')
  await page.getByRole('button', { name: 'Search' }).click()
  assert.is(await page.getByRole('link', { name: /^customer-100/ }).count(), 4)
  await page.getByLabel('User reference').fill(LONG_REF)
  await page.getByRole('button', { name: 'Search' }).click()
  await mustBeGood(page, 'a long reference')
  await page.goto(`${world.url}/developers/apps/notes/users?q=customer-1002`)
  await page.getByRole('link', { name: 'customer-1002' }).click()
  await mustBeGood(page, 'a user')
  await page.getByRole('button', { name: 'Delete data' }).click()
  await page.getByText('7 conversations').waitFor()
  await mustBeGood(page, 'the question')
  await page.getByLabel('Type the user reference to confirm').fill('customer-1')
  await page.getByRole('button', { name: 'Delete for good' }).click()
  await page.getByRole('alert').getByText('Nothing was deleted').waitFor()
  await page.getByLabel('Type the user reference to confirm').fill('customer-1002')
  await page.getByRole('button', { name: 'Delete for good' }).click()
  await page.getByRole('status').getByText('7 conversations and 1 connection were deleted').waitFor()
  await page.context().close()
})

portal('settings are saved and previewed; activity can be filtered and downloaded without formulas', async () => {
  const page = await signedIn(SCREENS['desktop'] ?? {})
  await page.goto(`${world.url}/developers/apps/notes/settings`)
  await page.getByLabel('Primary colour').fill('#ff0000')
  const top = page.locator('.preview-top')
  await until(
    'the preview follows',
    async () => (await top.evaluate((it) => getComputedStyle(it).backgroundColor)) === 'rgb(255, 0, 0)',
  )
  await page.getByLabel('App name').fill('=Notes')
  await page.getByLabel('Logo URL').fill('http://insecure.example/logo.png')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByText('https://').waitFor()
  await page.getByLabel('Logo URL').fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('status').waitFor()
  assert.is((await Apps.findById('notes').lean())?.name, '=Notes')
  await page.getByRole('button', { name: 'Rotate app secret' }).click()
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  await page.locator('[data-secret="appSecret"]').waitFor()
  await page.getByRole('button', { name: 'End the old one now' }).click()
  await page.getByRole('status').waitFor()

  const visitor = await world.signedIn('ada@example.test')
  await visitor.get('/developers/apps/notes/keys')
  await visitor.post('/developers/apps/notes/keys', { name: '=1+1' })
  const csv = await visitor.get('/developers/apps/notes/activity.csv')
  assert.match(csv.headers.get('content-type') ?? '', 'text/csv')
  assert.match(csv.text, '"ada@example.test","app.changed"')
  assert.match(csv.text, '"127.0.0.1"')
  assert.not.match(csv.text, /(^|,)"[=+@-]/m)
  await page.goto(`${world.url}/developers/apps/notes/activity`)
  await page.getByLabel('Action').selectOption({ label: 'Secret rotated' })
  await page.getByRole('button', { name: 'Filter' }).click()
  assert.is(await page.getByRole('row', { name: 'Secret rotated' }).count(), 1)
  assert.is(await page.getByRole('row').count(), 2)
  await page.context().close()
})

portal.run()
