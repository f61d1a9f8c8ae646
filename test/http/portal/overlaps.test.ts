import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { teamOf } from '../../../schemas/member/team.ts'
import { AuditEntries } from '../../../schemas/operations/audit.ts'
import { seedConnection } from '../../support/seed.ts'
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

overlaps('a key that is revoked while it is used is refused from the answer on', async () => {
  const ask = async () =>
    (await fetch(`${world.url}/api/connections?userRef=u`, { headers: { authorization: `Bearer ${apiKey}` } })).status
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
