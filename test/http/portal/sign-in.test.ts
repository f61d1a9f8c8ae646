import mongoose from 'mongoose'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sha256 } from '../../../core/ids.ts'
import { Mails } from '../../../schemas/mail/mail.ts'
import { PortalSessions } from '../../../schemas/member/session.ts'
import { SignIns } from '../../../schemas/member/sign-in.ts'
import { removeMember, teamOf } from '../../../schemas/member/team.ts'
import { until } from '../../support/until.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const signIn = suite('signing in to the portal')
let world: PortalWorld

signIn.before(async () => {
  world = await startPortalWorld()
  await world.makeApp('notes', { name: 'Notes' })
  await world.join('notes', 'ada@example.test', 'owner')
})
signIn.after(() => world.stop())

const OVERVIEW = '/developers/apps/notes/overview'

signIn('signed out, every address leads to the sign-in page', async () => {
  const visitor = world.visitor()
  for (const path of [
    '/developers',
    OVERVIEW,
    '/developers/apps/none/keys',
    '/developers/nowhere',
    '/developers/x/y',
  ]) {
    const page = await visitor.get(path)
    assert.equal([page.status, page.location], [303, '/developers/sign-in'], path)
  }
  const posted = await visitor.post('/developers/sign-out', {}, { follow: false })
  assert.equal([posted.status, posted.location], [303, '/developers/sign-in'])
  const page = await visitor.get('/developers/sign-in')
  assert.is(page.status, 200)
  assert.match(page.text, /Work e-mail<\/label>/)
  assert.match(page.text, '>Send sign-in link</button>')
  assert.is(page.headers.get('referrer-policy'), 'same-origin')
  assert.not.match(page.headers.get('content-security-policy') ?? '', 'unsafe')
})

signIn('a mailed link signs in once, after a confirmation by POST', async () => {
  const visitor = world.visitor()
  await visitor.get('/developers/sign-in')
  const answer = await visitor.post('/developers/sign-in', { email: ' Ada@Example.test ' })
  assert.is(answer.status, 200)
  const link = await world.mailedLink('ada@example.test')
  const anonymous = visitor.cookies.get('ccs_portal')
  // A scanner that follows the link, twice.
  for (const scanner of [world.visitor(), world.visitor()]) {
    const opened = await scanner.get(link)
    assert.equal([opened.status, opened.location], [303, '/developers/sign-in/confirm'])
    assert.match((await scanner.get('/developers/sign-in/confirm')).text, '>Sign in</button>')
  }
  const page = await visitor.signIn(link)
  assert.is(page.status, 200)
  assert.match(page.text, '<h1>Overview</h1>')
  assert.is.not(visitor.cookies.get('ccs_portal'), anonymous, 'a new id at sign-in')
  const [line = ''] = visitor.setCookie.filter((each) => each.startsWith('ccs_portal=')).slice(-1)
  assert.match(line, 'HttpOnly')
  assert.match(line, 'SameSite=Lax')
  const again = await world.visitor().signIn(link)
  assert.is(again.status, 403)
  assert.ok(again.alert)
  assert.not.ok(await Mails.exists({ to: 'ada@example.test' }), 'a mail that was sent is forgotten')
})

signIn('nothing in the database opens the portal', async () => {
  const visitor = await world.signedIn('ada@example.test')
  const cookie = visitor.cookies.get('ccs_portal') ?? ''
  assert.ok(await PortalSessions.exists({ _id: sha256(cookie) }))
  const link = await world.link('ada@example.test')
  const token = new URL(link).searchParams.get('token') ?? ''
  const kept = JSON.stringify([await PortalSessions.find().lean(), await SignIns.find().lean()])
  assert.not.match(kept, cookie)
  assert.not.match(kept, token)
})

signIn('before the answer the same is written for every address, so that its time says nothing either', async () => {
  const written: string[][] = []
  for (const email of ['ada@example.test', 'nobody@example.test', 'nobody@elsewhere.test']) {
    const visitor = world.visitor()
    await visitor.get('/developers/sign-in')
    const calls: string[] = []
    mongoose.set('debug', (collection: string, method: string) => void calls.push(`${collection}.${method}`))
    await visitor.post('/developers/sign-in', { email })
    mongoose.set('debug', false)
    // The mail is the last of it; from there on the actors of this process, who look the address up, may be in between.
    const page = calls.slice(0, calls.indexOf('mails.insertOne') + 1)
    written.push(page.filter((call) => /^(mail_limits|sign_ins|memberships|mails\.insert)/.test(call)))
    await until('the mail is decided on', async () => (await Mails.countDocuments()) === 0)
  }
  assert.ok((written[0]?.length ?? 0) >= 4)
  assert.equal(written[1], written[0])
  assert.equal(written[2], written[0])
})

signIn('the answer says nothing about whether an address is known', async () => {
  const answers = []
  for (const email of ['ada@example.test', 'nobody@example.test']) {
    const visitor = world.visitor()
    await visitor.get('/developers/sign-in')
    const { status, text } = await visitor.post('/developers/sign-in', { email })
    answers.push([status, text.replaceAll(email, 'EMAIL')])
  }
  assert.equal(answers[0], answers[1])
  await until('both are done', async () => (await Mails.countDocuments()) === 0)
  assert.equal(await world.mails('nobody@example.test'), [])
})

signIn('an address gets five mails an hour', async () => {
  await world.join('notes', 'often@example.test', 'developer')
  const visitor = world.visitor()
  await visitor.get('/developers/sign-in')
  for (let time = 0; time < 8; time += 1) {
    const answer = await visitor.post('/developers/sign-in', { email: 'often@example.test' })
    assert.is(answer.status, 200)
  }
  await until('all are sent', async () => (await Mails.countDocuments()) === 0)
  assert.is((await world.mails('often@example.test')).length, 5)
})

signIn('of fifty parallel uses of one link exactly one gets in', async () => {
  const link = await world.link('ada@example.test')
  const visitors = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const visitor = world.visitor()
      await visitor.get(link)
      await visitor.get('/developers/sign-in/confirm')
      return visitor
    }),
  )
  const pages = await Promise.all(
    visitors.map((each) => each.post('/developers/sign-in/confirm', {}, { follow: false })),
  )
  assert.is(pages.filter(({ status }) => status === 303).length, 1)
  assert.is(pages.filter(({ status }) => status === 403).length, 49)
})

signIn('a form needs its token and our Origin, before and after signing in', async () => {
  const visitor = world.visitor()
  await visitor.get('/developers/sign-in')
  const email = 'ada@example.test'
  const other = { headers: { origin: 'https://evil.example' } }
  for (const options of [{ token: null }, { token: 'x' }, other, { headers: { origin: 'null' } }]) {
    assert.is((await visitor.post('/developers/sign-in', { email }, options)).status, 403, JSON.stringify(options))
  }
  const member = await world.signedIn(email)
  for (const options of [{ token: null }, other]) {
    assert.is((await member.post('/developers/sign-out', {}, options)).status, 403)
  }
  assert.is((await member.get(OVERVIEW)).status, 200)
})

signIn('every page of somebody who is signed in has the way out, one that refuses too', async () => {
  const member = await world.signedIn('ada@example.test')
  for (const path of [OVERVIEW, '/developers/nowhere', '/developers/apps/none/keys']) {
    assert.match((await member.get(path)).text, '>Sign out everywhere</button>', path)
  }
  assert.not.match((await world.visitor().get('/developers/sign-in')).text, 'Sign out')
})

signIn('signing out ends this visit, signing out everywhere all of them', async () => {
  const [one, two, three] = [
    await world.signedIn('ada@example.test'),
    await world.signedIn('ada@example.test'),
    await world.signedIn('ada@example.test'),
  ]
  const kept = one.cookies.get('ccs_portal') ?? ''
  await one.get(OVERVIEW)
  await one.post('/developers/sign-out')
  one.cookies.set('ccs_portal', kept)
  assert.is((await one.get(OVERVIEW)).status, 303, 'the old cookie is worth nothing')
  await two.get(OVERVIEW)
  await two.post('/developers/sign-out-everywhere')
  assert.is((await three.get(OVERVIEW)).status, 303)
})

signIn('a visit ends after twelve idle hours, after seven days, and with the membership', async () => {
  await world.join('notes', 'gone@example.test', 'developer')
  const visitor = await world.signedIn('gone@example.test')
  const _id = sha256(visitor.cookies.get('ccs_portal') ?? '')
  const hours = (count: number) => new Date(Date.now() - count * 3_600_000)
  const session = await PortalSessions.findById(_id).lean()
  assert.is((session?.expiresAt.getTime() ?? 0) - (session?.createdAt.getTime() ?? 0), 12 * 3_600_000)
  await PortalSessions.updateOne({ _id }, { $set: { seenAt: hours(1), createdAt: hours(7 * 24 - 1) } })
  await visitor.get(OVERVIEW)
  const prolonged = await PortalSessions.findById(_id).lean()
  assert.ok((prolonged?.expiresAt.getTime() ?? 0) - Date.now() <= 3_600_000, 'seven days in all')
  const { members } = await teamOf('notes')
  const id = members.find(({ email }) => email === 'gone@example.test')?.id ?? ''
  assert.is(await removeMember({ appId: 'notes', id }), 'done')
  assert.equal((await visitor.get(OVERVIEW)).location, '/developers/sign-in')
  assert.not.ok(await PortalSessions.exists({ _id }))
})

signIn.run()
