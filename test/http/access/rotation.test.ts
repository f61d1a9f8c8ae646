import { randomBytes } from 'node:crypto'
import type { Response } from 'express'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { accountIdOf } from '../../../actors/connection/account.ts'
import type { Config } from '../../../core/config.ts'
import { createKeyring, KEY_BYTES, type Keyring } from '../../../core/envelope.ts'
import { sealedCookie } from '../../../http/access/sealed-cookie.ts'
import { type App, Apps } from '../../../schemas/app/app.ts'
import { createApp, linkSecrets } from '../../../schemas/app/apps.ts'
import { readTicket, signTicket } from '../../../schemas/lease/stream-ticket.ts'
import { emailHashOf } from '../../../schemas/user/email-hash.ts'
import { connectedTestDatabase } from '../../support/database.ts'

const [old, next] = [randomBytes(KEY_BYTES), randomBytes(KEY_BYTES)]
/** The three steps of a rotation: the new key is known everywhere before any process writes under it. */
const first = createKeyring([old, next])
const second = createKeyring([next, old])
const third = createKeyring([next])

let database: Awaited<ReturnType<typeof connectedTestDatabase>>
let app: App
let appSecret = ''
test.before(async () => {
  database = await connectedTestDatabase()
  const made = { appId: 'shop', name: 'Shop', contactEmail: 'x@example.test', createdBy: 'test', now: new Date() }
  appSecret = (await createApp({ ...made, keyring: createKeyring([old]) })).appSecret
  app = await Apps.findById('shop').orFail().lean<App>()
})
test.after(() => database.stop())

const bothWays = [
  [first, second],
  [second, first],
] as const

/** A cookie's value as the writer gives it to a browser, and what the reader makes of it. */
function cookieBetween(writer: Keyring, reader: Keyring): unknown {
  const options = { name: 'ccs_test', page: 'test', path: '/test', lifetimeMs: 1_000 }
  const config = { BASE_URL: 'http://127.0.0.1' } as Config
  const given: string[] = []
  const browser = { cookie: (name: string, value: string) => given.push(`${name}=${value}`) } as unknown as Response
  assert.ok(sealedCookie({ ...options, runtime: { config, keyring: writer } }).give(browser, { binding: 'one' }))
  return sealedCookie({ ...options, runtime: { config, keyring: reader } }).read(given.join())
}

test('a cookie that was sealed before a rotation is read after it, and the other way round', () => {
  for (const [writer, reader] of bothWays) assert.equal(cookieBetween(writer, reader), { binding: 'one' })
  assert.is(cookieBetween(first, third), null)
})

test('a stream ticket that one process signed is read by another that has rotated, and the other way round', () => {
  const now = new Date()
  const read = (writer: Keyring, reader: Keyring) =>
    readTicket({
      text: signTicket({ leaseId: 'l', nodeId: 'n', keyring: writer, now }),
      nodeId: 'n',
      keyring: reader,
      now,
    })
  for (const [writer, reader] of bothWays) assert.is(read(writer, reader)?.leaseId, 'l')
  assert.is(read(first, third), null)
})

test('account ids, e-mail hashes and secrets of an app stay the same', () => {
  const of = (keyring: Keyring) => [
    accountIdOf({ app, provider: 'p', providerAccountId: 'account-1', runtime: { keyring } }),
    emailHashOf({ app, email: 'ada@example.test', runtime: { keyring } }),
    ...linkSecrets(app, { keyring, now: new Date() }),
  ]
  const before = of(createKeyring([old]))
  assert.is(before[2], appSecret)
  assert.equal(of(first), before)
  assert.equal(of(second), before)
})

test.run()
