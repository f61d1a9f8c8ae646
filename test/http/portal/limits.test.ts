import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sha256 } from '../../../core/ids.ts'
import { Mails } from '../../../schemas/mail/mail.ts'
import { MailLimits } from '../../../schemas/member/mail-limit.ts'
import { SignIns } from '../../../schemas/member/sign-in.ts'
import { until } from '../../support/until.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const limits = suite('sign-in mails an hour')
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

limits.run()
