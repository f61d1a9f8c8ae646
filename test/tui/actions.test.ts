import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { OpsError } from '../../tui/client.ts'
import { until } from '../support/until.ts'
import { connection, delivery, lease } from './data.ts'
import { closeScreens, ESCAPE, openScreen } from './open-screen.ts'

const actions = suite('what the keys of the terminal do at the service')
actions.after.each(closeScreens)

actions('a purge shows what it deletes, and asks for the whole id', async () => {
  const { send, shows, askedOf } = await openScreen()
  const { id } = connection(1)
  const purges = () => askedOf('purge').filter((asked) => !JSON.stringify(asked).includes('dryRun'))
  send('p')
  await shows('1 connection revoked, 3 conversations deleted')
  await shows(id)
  send('yes\r')
  await shows('nothing was deleted')
  assert.equal(purges(), [])
  send('p')
  await shows('1 connection revoked')
  send(`${id}\r`)
  await shows('purged: 1 connection revoked, 3 conversations deleted')
  assert.equal(purges(), [{ body: { appId: 'demo', connectionId: id } }])
  send('P')
  await shows('everything of this user')
  await shows('1 connection revoked')
  send('user-1\r')
  await until('the purge', () => purges().length === 2)
  assert.equal(purges()[1], { body: { appId: 'demo', userRef: 'user-1' } })
})

actions('r, x and y act at once', async () => {
  const { send, shows, askedOf } = await openScreen()
  send('y')
  await shows('is synced now')
  assert.equal(askedOf('syncConnection'), [{ params: { id: connection(1).id } }])
  send('4')
  await shows('phone')
  send('x')
  await shows('is released')
  send('5')
  await shows('data.imported')
  send('r')
  await shows('is sent again')
  assert.is(askedOf('retryDelivery').length, 1)
  send('R')
  await shows('Replay 1 delivery?')
  send('\r')
  await until('the replay', () => askedOf('retryDelivery').length === 2)
})

actions('a purge shows what it was itself told, however late the answer to another one comes', async () => {
  const { send, shows, text, answers, dashboard } = await openScreen()
  let tell: (preview: unknown) => void = () => undefined
  answers['purgePreview'] = new Promise((resolve) => {
    tell = resolve
  })
  send('p')
  await shows('PURGE this connection')
  send(ESCAPE)
  await until('the dialog closed', () => dashboard.state().dialog === null)
  answers['purgePreview'] = new Promise(() => undefined)
  send('P')
  await shows('PURGE everything of this user')
  tell({ dryRun: true, connectionsRevoked: 1, conversationsDeleted: 3 })
  await new Promise((resolve) => setImmediate(resolve))
  assert.not.match(text(), /conversations deleted/)
  await shows('What will be deleted is being looked up')
})

actions('no key acts on a row that has come into the place of the selected one', async () => {
  const { send, shows, answers, askedOf, dashboard } = await openScreen({ view: 'browsers' })
  answers['listLeases'] = { leases: [lease(1)] }
  send('  ')
  await until('the new list', () => dashboard.listed().length === 1)
  const [first] = dashboard.listed()
  assert.is(first?.row.id, lease(1).id)
  answers['listLeases'] = { leases: [lease(3)] }
  send('  ')
  await until('another list', () => dashboard.listed()[0]?.row.id === lease(3).id)
  send('x')
  await shows('nothing was done')
  assert.equal(askedOf('releaseLease'), [])
  send('x')
  await shows('is released')
  assert.equal(askedOf('releaseLease'), [{ params: { id: lease(3).id } }])
})

actions(
  'of deliveries that are replayed together one that is refused holds up no other, and nobody begins twice',
  async () => {
    const { send, shows, answers, askedOf } = await openScreen({ view: 'deliveries' })
    answers['listDeliveries'] = { deliveries: [delivery(1), delivery(2), delivery(3)] }
    send('  ')
    await shows('Deliveries (3)')
    let go: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    answers['retryDelivery'] = async ({ params: { id } }: { params: { id: string } }) => {
      await gate
      if (id === delivery(2).id) throw new OpsError('failed', 'Not found')
      return { ok: true, deliveryId: id, result: id === delivery(3).id ? 'under way' : 'reopened' }
    }
    send('R')
    await shows('Replay 3 deliveries?')
    send('\r')
    send('R')
    await shows('Replay 3 deliveries?')
    send('\r')
    await shows('being replayed already')
    go()
    await shows('1 of 3 deliveries are sent again, 1 under way, ✖ 1 refused')
    assert.is(askedOf('retryDelivery').length, 3)
  },
)

actions('an action whose answer is lost is not called undone', async () => {
  const { send, shows, lose } = await openScreen()
  send(' ')
  await shows('paused')
  lose(new OpsError('lost', 'it does not answer'))
  send('y')
  await shows('it does not answer; whether it was done is not known')
})

actions('a browser that was given up before is not told as released', async () => {
  const { send, shows, answers } = await openScreen({ view: 'browsers' })
  answers['releaseLease'] = { ok: true, state: 'failed' }
  await shows('phone')
  send('x')
  await shows('had ended before (failed)')
})

actions('read-only changes nothing', async () => {
  const { send, shows, askedOf } = await openScreen({ readOnly: true })
  await shows('read-only')
  send('pPy')
  await shows('read-only: nothing is changed')
  send('4')
  await shows('phone')
  send('x')
  send('5')
  await shows('data.imported')
  send('rR')
  for (const name of ['purge', 'syncConnection', 'releaseLease', 'retryDelivery']) assert.equal(askedOf(name), [], name)
})

actions('keys act on the row that is opened, also when it is listed no more', async () => {
  const { send, shows, answers, askedOf, dashboard } = await openScreen()
  send('\r')
  await shows('complete +4')
  answers['listConnections'] = { connections: [connection(2), connection(3)] }
  send('  ')
  await shows('It is listed no more')
  await shows('user-1')
  send('y')
  await until('the sync', () => askedOf('syncConnection').length > 0)
  assert.equal(askedOf('syncConnection'), [{ params: { id: connection(1).id } }])
  send('p')
  await shows(connection(1).id)
  send(ESCAPE)
  await until('the dialog closed', () => dashboard.state().dialog === null)
  send(ESCAPE)
  await shows('Connections (2)')
})

actions.run()
