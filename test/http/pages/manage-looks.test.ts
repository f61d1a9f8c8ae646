import type { Browser, BrowserContextOptions } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { Conversations } from '../../../schemas/archive/conversation.ts'
import { Accounts, type Backfill } from '../../../schemas/connection/account.ts'
import type { Connection } from '../../../schemas/connection/connection.ts'
import { isTooWide, seriousProblems } from '../../support/axe.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'
import { openVisitorBrowser, PHONE } from '../../support/visitor.ts'
import { APP_ID, type ManageWorld, startManageWorld } from './manage-world.ts'

const looks = suite('every state of the manage page')
const LONG_NAME = `نوتس 🎉 ${'W'.repeat(72)}`
let world: ManageWorld
let browser: Browser

looks.before(async () => {
  world = await startManageWorld()
  browser = await openVisitorBrowser()
  await add('full', { lastSyncAt: new Date() }, { done: true })
  await add('full', { accountId: 'being-imported-77C0' }, { done: false, total: 400 })
  await add('full', { status: 'needs_reauth' }, { done: true })
  await seedConnection({ appId: APP_ID, userRef: 'gone', status: 'revoked' })
})
looks.after(async () => {
  await browser?.close()
  await world?.stop()
})

/** A connection that nobody syncs while it is looked at, with some conversations. */
async function add(userRef: string, more: Partial<Connection>, backfill: Backfill): Promise<{ archiveId: string }> {
  const connection = await seedConnection({ appId: APP_ID, userRef, ...more })
  const { accountId, provider, archiveId = '' } = connection
  await seedConversations({ archiveId, count: 12 })
  await Accounts.create({ _id: accountId, appId: APP_ID, provider, archiveId, backfill, fence: 0 })
  return { archiveId }
}

const DESKTOP = { width: 1280, height: 800 }
const SCREENS: Record<string, BrowserContextOptions> = {
  desktop: { viewport: DESKTOP },
  'dark desktop': { viewport: DESKTOP, colorScheme: 'dark' },
  phone: PHONE,
  'narrow dark phone': { ...PHONE, viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
}

for (const [index, [screen, options]] of Object.entries(SCREENS).entries()) {
  looks(`on a ${screen} everybody can use every state, whatever the app is called`, async () => {
    const leaver = `leaver-${index}`
    await add(leaver, { lastSyncAt: new Date() }, { done: true })
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    const good = async (what: string) => {
      assert.equal(await seriousProblems(page), [], what)
      assert.not.ok(await isTooWide(page), `${what} is wider than the screen`)
    }
    const open = async (userRef: string) => {
      await context.clearCookies()
      await page.goto(`${world.url}/manage?token=${world.token(userRef)}`)
    }
    for (const name of ['Notes', LONG_NAME]) {
      await Apps.updateOne({ _id: APP_ID }, { $set: { name } })
      await open('full')
      await page.getByRole('progressbar').waitFor()
      await good(`connections in ${name}`)
      await page.getByRole('link', { name: 'Delete all my data' }).click()
      await page.getByRole('button', { name: 'Delete everything' }).waitFor()
      await good(`the question in ${name}`)
      await page.getByRole('link', { name: 'Keep my data' }).click()
      await page.getByRole('progressbar').waitFor()
    }
    for (const userRef of ['gone', 'nobody']) {
      await open(userRef)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await good(userRef)
    }
    await open(leaver)
    await page.getByRole('link', { name: 'Delete all my data' }).click()
    // By keys, as the mouse is not everybody's.
    await page.getByRole('button', { name: 'Delete everything' }).press('Enter')
    await page.getByRole('heading', { name: 'Everything was deleted' }).waitFor()
    await good('deleted')
    await context.clearCookies()
    await page.goto(`${world.url}/manage?token=x`)
    await page.getByRole('alert').waitFor()
    await good('a refused link')
    assert.equal(errors, [])
    await context.close()
  })
}

looks('an open page follows an import, and a deletion from elsewhere', async () => {
  const { archiveId } = await add('follows', { accountId: 'follows-0001' }, { done: false, total: 400 })
  const page = await browser.newPage()
  await page.goto(`${world.url}/manage?token=${world.token('follows')}`)
  await page.getByText('12 of about 400 conversations').waitFor()
  await Conversations.deleteMany({ archiveId, externalId: 'ext-0' })
  await page.getByText('11 of about 400 conversations').waitFor()
  const elsewhere = world.visitor()
  await elsewhere.open(world.token('follows'))
  const { flow } = await elsewhere.get('/manage/delete')
  await elsewhere.confirm(flow)
  await page.getByRole('heading', { name: 'Nothing is left to delete' }).waitFor()
  assert.is(await page.getByRole('link', { name: 'Delete all my data' }).count(), 0)
  await page.close()
})

looks.run()
