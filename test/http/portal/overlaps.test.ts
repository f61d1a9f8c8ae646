import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { teamOf } from '../../../schemas/member/team.ts'
import { AuditEntries } from '../../../schemas/operations/audit.ts'
import { OPERATOR_KEY } from '../../support/http.ts'
import { type HttpProcess, startHttpProcess } from '../../support/http-process.ts'
import { seedConnection } from '../../support/seed.ts'
import { until } from '../../support/until.ts'
import type { Visitor } from './visitor.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const overlaps = suite('people who act at the same moment')
const KEYS = '/developers/apps/notes/keys'
const TEAM = '/developers/apps/notes/team'
let world: PortalWorld
let owner: Visitor
let apiKey: string

overlaps.before(async () => {
  world = await startPortalWorld()
  apiKey = (await world.makeApp('notes')).apiKey
  await world.join('notes', 'ada@example.test', 'owner')
  await seedConnection({ appId: 'notes', userRef: 'u' })
  owner = await world.signedIn('ada@example.test')
})
overlaps.after(() => world.stop())

const keysNamed = async (name: string) =>
  ((await Apps.findById('notes').lean())?.apiKeys ?? []).filter((each) => each.name === name)

overlaps('who is removed while they act did what was answered to them, and nothing after the removal', async () => {
  await world.join('notes', 'gone@example.test', 'developer')
  const gone = await world.signedIn('gone@example.test')
  await gone.get(KEYS)
  await owner.get(TEAM)
  const id = (await teamOf('notes')).members.find(({ email }) => email === 'gone@example.test')?.id
  const make = () => gone.post(KEYS, { name: 'while going' }, { follow: false })
  const [answers] = await Promise.all([
    Promise.all(Array.from({ length: 12 }, make)),
    owner.post(`${TEAM}/members/${id}/remove`),
  ])
  const made = answers.filter(({ location }) => location === KEYS).length
  assert.is((await keysNamed('while going')).length, made)
  assert.equal(new Set(answers.map(({ status }) => status)), new Set([303]))
  const written = { appId: 'notes', action: 'key.created', 'by.id': 'gone@example.test' }
  assert.is(await AuditEntries.countDocuments(written), made)
  assert.is((await make()).location, '/developers/sign-in')
  assert.is((await keysNamed('while going')).length, made)
})

/** A process beside the one of this suite, on the same database and under the same address. */
const anotherProcess = (): Promise<HttpProcess> =>
  startHttpProcess({
    MONGODB_URL: world.runtime.config.MONGODB_URL,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BASE_URL: world.url,
    HOST: '127.0.0.1',
    PORT: '0',
    OPERATOR_KEY,
    PROVIDER_SITE: 'http://127.0.0.1:9',
    WEBHOOK_PRIVATE_ADDRESSES: 'true',
    LOG_LEVEL: 'silent',
  })

overlaps('a process that is killed in the middle of actions leaves none without its entry', async () => {
  const { text } = await owner.get(KEYS)
  const [, formToken = ''] = /name="formToken" value="([^"]*)"/.exec(text) ?? []
  for (let round = 0; round < 3; round += 1) {
    const name = `killed ${round}`
    const http = await anotherProcess()
    const send = () =>
      fetch(`${http.url}${KEYS}`, {
        method: 'POST',
        headers: { cookie: `ccs_portal=${owner.cookies.get('ccs_portal')}`, origin: world.url },
        body: new URLSearchParams({ formToken, name }),
        redirect: 'manual',
      }).catch(() => undefined)
    const sent = Promise.all(Array.from({ length: 12 }, send))
    await until('the first key is there', async () => (await keysNamed(name)).length > 0)
    http.child.kill('SIGKILL')
    await sent
    const entries = await AuditEntries.find({ appId: 'notes', action: 'key.created', 'details.name': name }).lean()
    const made = await keysNamed(name)
    const ended = entries.filter(({ details }) => details['outcome'] === undefined)
    assert.ok(entries.length >= made.length, `${made.length} keys, ${entries.length} entries`)
    assert.ok(ended.every(({ target }) => made.some(({ id }) => id === target)))
  }
})

overlaps('a key that is revoked while it is used is refused from the answer on, in every process', async () => {
  const http = await anotherProcess()
  let turn = 0
  const ask = async () =>
    (
      await fetch(`${turn++ % 2 ? world.url : http.url}/api/connections?userRef=u`, {
        headers: { authorization: `Bearer ${apiKey}` },
      })
    ).status
  const key = (await Apps.findById('notes').lean())?.apiKeys[0]
  await owner.get(`${KEYS}/${key?.id}/revoke`)
  const [during] = await Promise.all([
    Promise.all(Array.from({ length: 30 }, ask)),
    owner.post(`${KEYS}/${key?.id}/revoke`, {}, { follow: false }),
  ])
  assert.ok(during.every((status) => status === 200 || status === 401))
  assert.equal(
    await Promise.all(Array.from({ length: 10 }, ask)),
    Array.from({ length: 10 }, () => 401),
  )
  await http.stop()
})

overlaps('of several who invite one address one does', async () => {
  await world.join('notes', 'bob@example.test', 'owner')
  const bob = await world.signedIn('bob@example.test')
  const people = [owner, bob]
  for (const each of people) await each.get(TEAM)
  const fields = { email: 'wanted@example.test', role: 'developer' }
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => people[index % 2]?.post(`${TEAM}/invitations`, fields, { follow: false })),
  )
  assert.equal(answers.map((each) => each?.status).sort(), [303, ...Array.from({ length: 9 }, () => 409)])
  assert.is((await teamOf('notes')).invitations.length, 1)
  assert.is(await AuditEntries.countDocuments({ appId: 'notes', action: 'member.invited' }), 1)
})

overlaps('an owner who leaves while another is demoted leaves one owner', async () => {
  const { members } = await teamOf('notes')
  const idOf = (email: string) => members.find((each) => each.email === email)?.id
  const bob = await world.signedIn('bob@example.test')
  await bob.get(TEAM)
  await owner.get(TEAM)
  await Promise.all([
    bob.post(`${TEAM}/members/${idOf('bob@example.test')}/remove`, {}, { follow: false }),
    bob.post(`${TEAM}/members/${idOf('ada@example.test')}/role`, { role: 'developer' }, { follow: false }),
    owner.post(`${TEAM}/members/${idOf('bob@example.test')}/role`, { role: 'developer' }, { follow: false }),
    owner.post(`${TEAM}/members/${idOf('ada@example.test')}/remove`, {}, { follow: false }),
  ])
  assert.is((await teamOf('notes')).members.filter(({ role }) => role === 'owner').length, 1)
})

overlaps.run()
