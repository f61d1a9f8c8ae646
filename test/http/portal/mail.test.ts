import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Mails } from '../../../schemas/mail/mail.ts'
import { OPERATOR_KEY } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const mail = suite('mails of the portal')
/** Of the mail server: what it took, and how it greets. */
const received: { from: string; to: string[]; text: string }[] = []
let refusing = false
let server: SMTPServer
let world: PortalWorld

mail.before(async () => {
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onMailFrom: (_address, _session, done) => done(refusing ? new Error('not now') : undefined),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString('utf8'),
        })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.server.address() as AddressInfo
  world = await startPortalWorld({
    env: { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Notes <portal@notes.example>' },
  })
  await world.makeApp('notes', { name: 'Notes & "Co"' })
  await world.join('notes', 'ada@example.test', 'owner')
})
mail.after(async () => {
  await world.stop()
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
})

const operate = (path: string, body?: object) =>
  fetch(`${world.url}/ops/${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' },
  })

const mailTo = (address: string) => until(`a mail to ${address}`, () => received.find(({ to }) => to.includes(address)))

mail('a mail server gets the sign-in mail, in text and HTML, with nothing to fetch', async () => {
  const visitor = world.visitor()
  await visitor.get('/developers/sign-in')
  await visitor.post('/developers/sign-in', { email: 'ada@example.test' })
  const { from, text } = await mailTo('ada@example.test')
  assert.is(from, 'portal@notes.example')
  assert.match(text, 'Content-Type: multipart/alternative')
  assert.match(text, 'Content-Type: text/plain')
  assert.match(text, 'Content-Type: text/html')
  assert.not.match(text, /<img|src=|url\(/i)
  const [link = ''] = /^http\S+$/m.exec(text) ?? []
  assert.is((await visitor.signIn(link)).status, 200)
})

mail(
  'what a mail says lies nowhere in clear; one that cannot be sent is tried again, and operators see it',
  async () => {
    refusing = true
    const answer = await operate('apps/notes/invite', { email: 'new@example.test', role: 'developer' })
    assert.is(answer.status, 201)
    const { signInUrl } = (await answer.json()) as { signInUrl: string }
    const failed = await until('an attempt fails', () =>
      Mails.findOne({ to: 'new@example.test', 'failures.0.error': 'EENVELOPE 550' }).lean(),
    )
    assert.not.match(JSON.stringify(failed), new URL(signInUrl).searchParams.get('token') ?? '')
    const { mails } = (await (await operate('mails')).json()) as { mails: { to: string; failures: unknown[] }[] }
    assert.ok(mails.some(({ to, failures }) => to === 'new@example.test' && failures.length > 0))
    refusing = false
    const { text } = await mailTo('new@example.test')
    assert.match(text, 'You are invited to Notes & "Co"')
    assert.not.match(text, '<h1>Notes & "Co"')
    await until('it is forgotten', async () => !(await Mails.exists({ to: 'new@example.test' })))
    const visitor = world.visitor()
    assert.is((await visitor.signIn(signInUrl)).status, 200)
  },
)

mail('a mail that is refused for good is given up, and what it said is destroyed', async () => {
  refusing = true
  await operate('apps/notes/invite', { email: 'never@example.test', role: 'developer' })
  const dropped = await until('it is given up', () =>
    Mails.findOne({ to: 'never@example.test', state: 'dropped' }).lean(),
  )
  assert.equal([dropped.failures.length, dropped.sealed, dropped.key], [6, undefined, undefined])
  refusing = false
})

mail('an operator takes an app on and announces a deprecation', async () => {
  const body = {
    appId: 'taken-on',
    appName: 'Taken on',
    contactEmail: 'contact@example.test',
    ownerEmail: 'first@example.test',
  }
  const made = (await (await operate('apps', body)).json()) as { signInUrl: string }
  const owner = world.visitor()
  assert.is((await owner.signIn(made.signInUrl)).status, 200)
  assert.match((await owner.get('/developers/apps/taken-on/settings')).text, '>Save</button>')
  const removedAt = new Date(Date.now() + 91 * 86_400_000).toISOString()
  const words = { subject: 'Bearer use of the app secret', message: 'Use API keys.', appId: 'taken-on' }
  assert.is((await operate('deprecations', { ...words, removedAt: new Date().toISOString() })).status, 400)
  assert.equal(await (await operate('deprecations', { ...words, removedAt })).json(), { ok: true, mails: 1 })
  assert.match((await mailTo('contact@example.test')).text, 'Bearer use of the app secret')
})

mail.run()
