import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sha256 } from '../../../core/ids.ts'
import { Mails } from '../../../schemas/mail/mail.ts'
import { Teams } from '../../../schemas/member/membership.ts'
import { SignIns } from '../../../schemas/member/sign-in.ts'
import { teamOf } from '../../../schemas/member/team.ts'
import { until } from '../../support/until.ts'
import type { Visitor } from './visitor.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const invitations = suite('invitations to a team')
const TEAM = '/developers/apps/notes/team'
const DAY_MS = 86_400_000
let world: PortalWorld
let owner: Visitor

invitations.before(async () => {
  world = await startPortalWorld()
  for (const appId of ['notes', 'other']) {
    // Neither in ASCII nor in one direction: a link stands on a line of its own all the same.
    await world.makeApp(appId, { name: `Nötes نوتس 🎉 of ${appId}` })
    await world.join(appId, 'ada@example.test', 'owner')
  }
  owner = await world.signedIn('ada@example.test')
})
invitations.after(() => world.stop())

async function invite(email: string, role = 'developer', team = TEAM): Promise<string> {
  const before = (await world.mails(email)).length
  await owner.get(team)
  const page = await owner.post(`${team}/invitations`, { email, role })
  assert.match(page.said ?? '', email)
  return world.mailedLink(email, before + 1)
}

const invitationOf = async (email: string) => (await teamOf('notes')).invitations.find((each) => each.email === email)
const pendingOf = (link: string) => SignIns.findById(sha256(new URL(link).searchParams.get('token') ?? '')).lean()

invitations('one that is not taken up within seven days is none any more, and can be sent again', async () => {
  const email = 'late@example.test'
  const link = await invite(email)
  const made = await invitationOf(email)
  assert.is((made?.expiresAt.getTime() ?? 0) - (made?.invitedAt.getTime() ?? 0), 7 * DAY_MS)
  const pending = await pendingOf(link)
  assert.is((pending?.expiresAt.getTime() ?? 0) - (pending?.createdAt.getTime() ?? 0), 7 * DAY_MS)

  // Seven days later.
  const past = new Date(Date.now() - 1)
  await Teams.updateOne({ _id: 'notes', 'invitations.email': email }, { $set: { 'invitations.$.expiresAt': past } })
  await SignIns.updateOne({ _id: pending?._id ?? '' }, { $set: { expiresAt: past } })
  assert.is((await world.visitor().signIn(link)).status, 403)
  assert.match((await owner.get(TEAM)).text, 'Expired')
  const visitor = world.visitor()
  await visitor.get('/developers/sign-in')
  await visitor.post('/developers/sign-in', { email })
  await until('the mail is decided on', async () => !(await Mails.exists({ to: email })))
  assert.is((await world.mails(email)).length, 1, 'nobody is invited, so nothing is sent')

  await owner.get(TEAM)
  await owner.post(`${TEAM}/invitations/${made?.id}/resend`)
  assert.is((await world.visitor().signIn(await world.mailedLink(email, 2))).status, 200)
  assert.not.ok(await invitationOf(email))
})

invitations('a link is good for one visit, and after the withdrawal for none', async () => {
  const link = await invite('once@example.test')
  const visitors = await Promise.all(
    Array.from({ length: 20 }, async () => {
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
  assert.is((await teamOf('notes')).members.filter(({ email }) => email === 'once@example.test').length, 1)

  const taken = await invite('taken-back@example.test')
  const opened = world.visitor()
  await opened.get(taken)
  await opened.get('/developers/sign-in/confirm')
  await owner.get(TEAM)
  await owner.post(`${TEAM}/invitations/${(await invitationOf('taken-back@example.test'))?.id}/withdraw`)
  assert.is((await opened.post('/developers/sign-in/confirm', {}, { follow: false })).status, 403)
})

invitations('once somebody has joined, what is left of their invitations signs in for an hour at most', async () => {
  const email = 'twice@example.test'
  const [one, two] = [await invite(email), await invite(email, 'owner', '/developers/apps/other/team')]
  const page = await world.visitor().signIn(one)
  assert.is(page.status, 200)
  assert.equal((await teamOf('other')).members.find((each) => each.email === email)?.role, 'owner')
  const left = await pendingOf(two)
  assert.ok((left?.expiresAt.getTime() ?? 0) <= Date.now() + 3_600_000)
  assert.is((await world.visitor().signIn(two)).status, 200)
})

invitations('of a team that has changed meanwhile the page says how it is now', async () => {
  await invite('gone@example.test')
  const id = (await invitationOf('gone@example.test'))?.id
  await owner.get(TEAM)
  assert.is((await owner.post(`${TEAM}/invitations/${id}/withdraw`)).status, 200)
  for (const path of [`invitations/${id}/withdraw`, `invitations/${id}/resend`, `members/${id}/remove`]) {
    const page = await owner.post(`${TEAM}/${path}`)
    assert.is(page.status, 404, path)
    assert.match(page.alert ?? '', 'has changed')
    assert.match(page.text, 'ada@example.test')
  }
})

invitations.run()
