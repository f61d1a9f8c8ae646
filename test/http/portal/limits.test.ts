import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sha256 } from '../../../core/ids.ts'
import { Apps } from '../../../schemas/app/app.ts'
import { Mails } from '../../../schemas/mail/mail.ts'
import { MailLimits } from '../../../schemas/member/mail-limit.ts'
import { SignIns } from '../../../schemas/member/sign-in.ts'
import { teamOf } from '../../../schemas/member/team.ts'
import { OPERATOR_KEY } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const limits = suite('limits of the portal')
let world: PortalWorld

limits.before(async () => {
  world = await startPortalWorld()
  await world.makeApp('notes')
})
limits.after(() => world.stop())

limits('a network address asks for thirty an hour, whatever it says of itself; the answer stays the same', async () => {
  const visitor = world.visitor()
  await visitor.get('/developers/sign-in')
  const answers = new Set<string>()
  const ask = async (name: string) => {
    const email = `${name}@example.test`
    const headers = { 'x-forwarded-for': `192.0.2.${answers.size}` }
    const { status, text } = await visitor.post('/developers/sign-in', { email }, { headers })
    answers.add(`${status} ${text.replaceAll(email, 'EMAIL')}`)
  }
  for (let time = 0; time < 34; time += 1) await ask(`somebody-${time}`)
  assert.is(answers.size, 1)
  assert.is(await SignIns.countDocuments(), 30)

  await world.join('notes', 'ada@example.test', 'owner')
  await ask('ada')
  await until('all are done', async () => (await Mails.countDocuments()) === 0)
  assert.equal(await world.mails('ada@example.test'), [])

  // The first of the thirty is an hour ago: there is one place again, and one only.
  const hourAgo = new Date(Date.now() - 3_600_000)
  await MailLimits.updateOne({ _id: sha256('network|127.0.0.1') }, { $set: { 'times.0': hourAgo } })
  await ask('ada')
  await ask('somebody-else')
  assert.is(await SignIns.countDocuments(), 31)
  await world.mailedLink('ada@example.test')
  assert.is(answers.size, 1)
})

limits('members invite so many an hour, and one address so often; operators are not limited', async () => {
  const team = '/developers/apps/many/team'
  await world.makeApp('many')
  await world.join('many', 'owner@example.test', 'owner')
  const owner = await world.signedIn('owner@example.test')
  await owner.get(team)
  const fields = { email: 'wanted@example.test', role: 'developer' }
  assert.is((await owner.post(`${team}/invitations`, fields, { follow: false })).status, 303)
  const [invitation] = (await teamOf('many')).invitations
  const resend = () => owner.post(`${team}/invitations/${invitation?.id}/resend`, {}, { follow: false })
  const statuses = []
  for (let time = 0; time < 11; time += 1) statuses.push((await resend()).status)
  assert.equal(statuses, [...Array.from({ length: 9 }, () => 303), 429, 429])
  const page = await resend()
  assert.match(page.alert ?? '', 'Too many invitations')
  assert.match(page.text, 'wanted@example.test')
  const _id = sha256('invitations|many')
  const times = Array.from({ length: 100 }, () => new Date())
  await MailLimits.updateOne({ _id }, { $set: { times } })
  const other = { ...fields, email: 'another@example.test' }
  const refused = await owner.post(`${team}/invitations`, other)
  assert.is(refused.status, 429)
  assert.match(refused.text, /value="another@example.test"/, 'what was typed stays')
  assert.equal((await teamOf('many')).invitations.length, 1)
  const answer = await fetch(`${world.url}/ops/apps/many/invite`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(other),
  })
  assert.is(answer.status, 201)
})

limits('an app has room for so many keys; those that were revoked long ago make it', async () => {
  const keys = '/developers/apps/full/keys'
  await world.makeApp('full')
  await world.join('full', 'dev@example.test', 'developer')
  const developer = await world.signedIn('dev@example.test')
  const [key] = (await Apps.findById('full').lean())?.apiKeys ?? []
  const many = Array.from({ length: 1_000 }, (_, index) => ({ ...key, id: `key-${index}`, digest: `digest-${index}` }))
  await Apps.updateOne({ _id: 'full' }, { $set: { apiKeys: many } })
  await developer.get(keys)
  const refused = await developer.post(keys, { name: 'One more' })
  assert.is(refused.status, 409)
  assert.match(refused.alert ?? '', 'no room')
  await Apps.updateOne({ _id: 'full' }, { $set: { 'apiKeys.3.revokedAt': new Date(Date.now() - 91 * 86_400_000) } })
  const made = await developer.post(keys, { name: 'One more' })
  assert.ok(made.secret('apiKey'))
  const left = (await Apps.findById('full').lean())?.apiKeys ?? []
  assert.equal([left.length, left.at(-1)?.name, left.some(({ id }) => id === 'key-3')], [1_000, 'One more', false])
})

limits.run()
