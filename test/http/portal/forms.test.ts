import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sha256 } from '../../../core/ids.ts'
import { Apps } from '../../../schemas/app/app.ts'
import { AuditEntries } from '../../../schemas/operations/audit.ts'
import type { Visitor } from './visitor.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const forms = suite('forms that are sent late, twice or beside others')
const APP = '/developers/apps/notes'
let world: PortalWorld
let ada: Visitor
let bob: Visitor

forms.before(async () => {
  world = await startPortalWorld()
  await world.makeApp('notes', { name: 'Notes' })
  for (const email of ['ada@example.test', 'bob@example.test']) await world.join('notes', email, 'owner')
  ada = await world.signedIn('ada@example.test')
  bob = await world.signedIn('bob@example.test')
})
forms.after(() => world.stop())

const fieldOf = (text: string, name: string): string =>
  new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(text)?.[1] ?? ''

for (const [secret, section, list] of [
  ['appSecret', 'settings', 'linkSecrets'],
  ['webhookSecret', 'webhooks', 'webhookSecrets'],
] as const) {
  forms(`of several rotations of one ${secret} one happens, and its secret is shown`, async () => {
    const path = `${APP}/${section}/rotate`
    const [shown, other] = [await ada.get(path), await bob.get(path)]
    const answers = await Promise.all([
      ...Array.from({ length: 3 }, () => ada.post(path, { from: fieldOf(shown.text, 'from') }, { follow: false })),
      bob.post(path, { from: fieldOf(other.text, 'from') }, { follow: false }),
    ])
    assert.ok(answers.every(({ status }) => status === 303))
    const app = await Apps.findById('notes').lean()
    assert.is(app?.[list].length, 2)
    const pages = [await ada.get(`${APP}/${section}`), await bob.get(`${APP}/${section}`)]
    const secrets = pages.flatMap((page) => page.secret(secret) ?? [])
    assert.is(secrets.length, 1)
    if (secret === 'appSecret') assert.is(app?.linkSecrets[0]?.digest, sha256(secrets[0] ?? ''))
    assert.ok(pages.some(({ text }) => text.includes('Nothing was rotated this time')))
    const done = {
      appId: 'notes',
      action: 'secret.rotated',
      'details.secret': secret === 'appSecret' ? 'app' : 'webhook',
    }
    assert.is(await AuditEntries.countDocuments(done), 1)
    await ada.post(`${APP}/${section}/end-overlap`)
    assert.is((await Apps.findById('notes').lean())?.[list].length, 1)
  })
}

forms('settings of an older tab change what was typed there, and nothing else', async () => {
  const [first, second] = [await ada.get(`${APP}/settings`), await bob.get(`${APP}/settings`)]
  const names = ['appName', 'logoUrl', 'primaryColor', 'contactEmail']
  const fieldsOf = (text: string) =>
    Object.fromEntries(names.flatMap((name) => [name, `seen-${name}`].map((each) => [each, fieldOf(text, each)])))
  await ada.post(`${APP}/settings`, { ...fieldsOf(first.text), appName: 'Better notes' })
  await bob.post(`${APP}/settings`, { ...fieldsOf(second.text), primaryColor: '#112233' })
  const app = await Apps.findById('notes').lean()
  assert.equal([app?.name, app?.primaryColor, app?.contactEmail], ['Better notes', '#112233', 'notes@example.test'])
  const [entry] = await AuditEntries.find({ appId: 'notes', action: 'app.changed' }).sort({ at: -1 }).lean()
  assert.equal(entry?.details, { fields: ['primaryColor'] })
  const refused = await bob.post(`${APP}/settings`, { ...fieldsOf(second.text), primaryColor: 'red', appName: 'Kept' })
  assert.is(refused.status, 400)
  assert.is(fieldOf(refused.text, 'appName'), 'Kept', 'what was typed is not lost')
  assert.match(refused.text, /name="primaryColor"[^>]*aria-invalid="true"/)
})

forms('a key that is made by two clicks is shown twice, each time another; a revoked one is revoked once', async () => {
  await ada.get(`${APP}/keys`)
  await Promise.all([1, 2].map(() => ada.post(`${APP}/keys`, { name: 'Twice' }, { follow: false })))
  const page = await ada.get(`${APP}/keys`)
  const shown = [...page.text.matchAll(/data-secret="apiKey">([^<]*)</g)].map(([, key = '']) => sha256(key))
  const made = (await Apps.findById('notes').lean())?.apiKeys.filter(({ name }) => name === 'Twice') ?? []
  assert.equal(shown.sort(), made.map(({ digest }) => digest).sort())
  assert.not.match((await ada.get(`${APP}/keys`)).text, 'data-secret')
  const path = `${APP}/keys/${made[0]?.id}/revoke`
  await bob.get(path)
  await Promise.all([ada.post(path), bob.post(path)])
  assert.match((await bob.post(path)).said ?? '', 'revoked before')
  const entries = await AuditEntries.find({ appId: 'notes', action: 'key.revoked' }).lean()
  assert.equal(
    entries.map(({ target, details }) => [target, details]),
    [[made[0]?.id, { name: 'Twice' }]],
  )
})

forms.run()
