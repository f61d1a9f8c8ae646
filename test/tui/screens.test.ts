import { render } from 'ink-testing-library'
import { createElement } from 'react'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { OpsError } from '../../tui/client.ts'
import { createDashboard } from '../../tui/dashboard.ts'
import { draw } from '../../tui/draw.ts'
import { keyReader } from '../../tui/keys.ts'
import { Screen } from '../../tui/screen.tsx'
import { sparkline } from '../../tui/text.ts'
import type { ViewName } from '../../tui/view.ts'
import { until } from '../support/until.ts'
import { connection, delivery, fakeService, lease, NOW } from './data.ts'

const screens = suite('the screens of the terminal')
const ESCAPE = '\x1b'
const ends: (() => void)[] = []
screens.after.each(() => {
  for (const end of ends.splice(0)) end()
})

async function open({ view = 'connections' as ViewName, readOnly = false, columns = 80, rows = 24 } = {}) {
  const service = fakeService()
  let ended = false
  let now = NOW
  const onEnd = (): void => {
    ended = true
  }
  const dashboard = createDashboard({ client: service.client, view, readOnly, onEnd, now: () => now })
  dashboard.resize({ columns, rows })
  const screen = render(createElement(Screen, { dashboard }))
  dashboard.start()
  ends.push(() => {
    dashboard.stop()
    screen.unmount()
  })
  const text = (): string => screen.lastFrame() ?? ''
  const shows = async (wanted: string | RegExp): Promise<void> => {
    const look = (): boolean => (typeof wanted === 'string' ? text().includes(wanted) : wanted.test(text()))
    await until(String(wanted), look).catch((error: Error) => {
      throw new Error(`${error.message} in\n${text()}`)
    })
  }
  await until('the first load', () => dashboard.state().loaded[view] !== undefined || dashboard.state().trouble)
  return {
    ...service,
    dashboard,
    text,
    shows,
    send: keyReader(dashboard.press),
    selects: (userRef: string) => shows(new RegExp(`^> \\S+ \\w+ +${userRef} `, 'm')),
    isEnded: () => ended,
    wait: (ms: number) => {
      now += ms
    },
  }
}

screens('each view is named in the first two rows and fits its terminal', async () => {
  for (const [columns, rows] of [
    [80, 24],
    [120, 40],
    [200, 60],
  ] as const) {
    const { send, text, shows } = await open({ view: 'overview', columns, rows })
    for (const [key, title] of Object.entries({
      1: 'Overview',
      2: 'Actors',
      3: 'Connections',
      4: 'Browsers',
      5: 'Deliveries',
      6: 'Audit',
    })) {
      send(key)
      await shows(`[${key} ${title}]`)
      await shows(/age \d+ s/)
      const lines = text().split('\n')
      assert.match(lines.slice(0, 2).join(' '), new RegExp(`${title} \\(\\d+\\)  age \\d+ s`))
      assert.is(lines.length, rows - 1)
      assert.ok(
        lines.every((line) => line.length <= columns),
        `${title} at ${columns}`,
      )
      assert.match(lines.at(-1) ?? '', /\? help/)
    }
  }
})

screens('what a key does while hundreds of rows are listed', async () => {
  const { send, selects, shows, text } = await open()
  await selects('user-1')
  send('jj')
  await selects('user-3')
  send('\x1b[B\x1b[A\x1b[B')
  await selects('user-4')
  send('G')
  await selects('user-50')
  send('g')
  await selects('user-1')
  send('\x1b[6~')
  await selects('user-14')
  assert.match(text(), /captured ▲/)
  send('S')
  await shows('captured ▼')
  send(' ')
  await shows('paused')
  send('?')
  await shows('A purge shows what it will delete')
  send(ESCAPE)
  await shows(/user-\d/)
})

screens('the selection follows its row', async () => {
  const { send, selects, answers, shows, dashboard } = await open()
  send('j')
  await selects('user-2')
  answers['listConnections'] = {
    connections: [
      connection(2, { capturedAt: new Date(NOW - 10_000_000).toISOString() }),
      connection(1),
      connection(3),
    ],
  }
  send('  ')
  await until('the new list', () => dashboard.listed().length === 3)
  await shows('user-3')
  await selects('user-2')
})

screens('every letter is text in a filter; Enter keeps it, Esc clears it', async () => {
  const { send, text, shows, isEnded } = await open()
  send('/user-4q')
  await shows('/user-4q█')
  assert.is(isEnded(), false)
  await shows('nothing')
  send('\x7f')
  await shows('Connections (11)')
  send('\r')
  await shows(/\/user-4$/m)
  send('j')
  assert.match(text(), /Connections \(11\)/)
  send(ESCAPE)
  await shows('Connections (50)')
})

screens('a purge shows what it deletes, and asks for the whole id', async () => {
  const { send, shows, askedOf } = await open()
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

screens('r, x and y act at once', async () => {
  const { send, shows, askedOf } = await open()
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

screens('a purge shows what it was itself told, however late the answer to another one comes', async () => {
  const { send, shows, text, answers, dashboard } = await open()
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

screens('no key acts on a row that has come into the place of the selected one', async () => {
  const { send, shows, answers, askedOf, dashboard } = await open({ view: 'browsers' })
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

screens(
  'of deliveries that are replayed together one that is refused holds up no other, and nobody begins twice',
  async () => {
    const { send, shows, answers, askedOf } = await open({ view: 'deliveries' })
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

screens('an action whose answer is lost is not called undone', async () => {
  const { send, shows, lose } = await open()
  send(' ')
  await shows('paused')
  lose(new OpsError('lost', 'it does not answer'))
  send('y')
  await shows('it does not answer; whether it was done is not known')
})

screens('a view stays fresh, and the service is not called lost, while its counts are slow', async () => {
  const { send, shows, answers, wait, dashboard, askedOf } = await open()
  await until('the first counts', () => askedOf('getOverview').length === 1)
  let fail: (error: Error) => void = () => undefined
  answers['getOverview'] = new Promise((_, reject) => {
    fail = reject
  })
  wait(60_000)
  send('  ')
  await until('the second counts', () => askedOf('getOverview').length === 2)
  answers['listConnections'] = { connections: [connection(7)] }
  await shows('user-7')
  fail(new OpsError('lost', 'it does not answer'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.is(dashboard.state().trouble, null)
})

screens('a browser that was given up before is not told as released', async () => {
  const { send, shows, answers } = await open({ view: 'browsers' })
  answers['releaseLease'] = { ok: true, state: 'failed' }
  await shows('phone')
  send('x')
  await shows('had ended before (failed)')
})

screens('deliveries of an app are asked for by the filter', async () => {
  const { send, askedOf } = await open({ view: 'deliveries' })
  send('/demo')
  await until('the question', () => JSON.stringify(askedOf('listDeliveries')).includes('"appId":"demo"'))
})

screens('the overview is whole on the least terminal; what is wrong has a colour, and a shape', async () => {
  const { dashboard, text, send, shows } = await open({ view: 'overview' })
  await shows('database answers')
  assert.not.ok(text().includes('…'), text())
  assert.match(text(), /^ {2}browser-farm +● running .* leases 2 {2}capacity 10$/m)
  send('5')
  await shows('▲ failing')
  const styleOf = (part: string) => draw(dashboard).find((line) => line.text.includes(part))?.style
  send('G')
  assert.is(styleOf('▲ failing'), 'warn')
})

screens('a quarter hour fits whatever width there is', () => {
  const values = Array.from({ length: 60 }, (_, n) => (n === 3 ? 8 : n < 30 ? undefined : 4))
  assert.is(sparkline(values, 60).length, 60)
  assert.is(sparkline(values, 8), '█   ▅▅▅▅')
})

screens('read-only changes nothing', async () => {
  const { send, shows, askedOf } = await open({ readOnly: true })
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

screens('a row opens with what is known of it', async () => {
  const { send, shows, text } = await open()
  send('\r')
  await shows(`Connections › ${connection(1).id}`)
  await shows('complete +4')
  await shows('data.imported')
  send(ESCAPE)
  await shows('Connections (50)')
  send('5')
  await shows('▲ failing')
  send('\r')
  await shows('answered 500')
  assert.not.ok(text().includes('\x1b[31m'))
  await shows('oh �[31mno')
})

screens('keys act on the row that is opened, also when it is listed no more', async () => {
  const { send, shows, answers, askedOf, dashboard } = await open()
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

screens('a row that is opened is loaded anew, and says which keys it has', async () => {
  const { send, shows, answers, wait } = await open()
  send('\r')
  await shows('complete +4')
  await shows('Esc back  ↑↓ scroll  y sync  p purge  P purge user')
  answers['getConnection'] = { syncs: [{ at: new Date(NOW).toISOString(), outcome: 'rate-limited' }], deliveries: [] }
  wait(10_000)
  send('  ')
  await shows('rate-limited')
})

screens('an opened row scrolls to its end and back', async () => {
  const { send, shows, answers, text } = await open()
  const device = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`d${n}`, `value-${n}`]))
  answers['listConnections'] = { connections: [connection(1, { device })] }
  send('  ')
  await shows('Connections (1)')
  send('\r')
  await shows('value-5')
  send('G')
  await shows('data.imported')
  const end = text()
  send('jjj')
  assert.is(text(), end)
  send('k')
  await until('a line further up', () => text() !== end)
  send('g')
  await shows('sandbox-assistant')
})

screens('help and dialogs fit the least terminal, word by word', async () => {
  const { send, shows, text, answers } = await open()
  send('?')
  await shows('any key goes back')
  assert.not.ok(text().includes('…'), text())
  send(ESCAPE)
  await shows('user-1')
  answers['listConnections'] = { connections: [connection(1, { userRef: 'x'.repeat(512) })] }
  send('  ')
  await shows('Connections (1)')
  send('P')
  await shows(/with their(?: files)?$/m)
})

screens('the tree of actors folds and unfolds', async () => {
  const { send, shows, text, dashboard } = await open({ view: 'actors', rows: 40 })
  await shows('600 live actors, the oldest 500 shown, 1 quarantined')
  assert.is(dashboard.listed().length, 1 + 2 + 500 + 2)
  send('g\r')
  await shows('▸ actors 12')
  send('\r')
  await shows('▾ actors 12')
  send('/quarantined\r')
  await shows('✖ quarantined')
  assert.match(text(), /Actors \(2\)/)
})

screens('a lost service is named, and found again by itself', async () => {
  const { send, shows, lose, wait, text } = await open()
  lose(new OpsError('lost', 'it cannot be reached (ECONNREFUSED)'))
  send('  ')
  await shows('SERVICE LOST: it cannot be reached (ECONNREFUSED)')
  wait(5_000)
  await shows('age 5 s')
  assert.match(text(), /user-1 /)
  lose(null)
  await until('found again', () => !text().includes('SERVICE LOST'))
  lose(new OpsError('refused', 'Invalid operator key'))
  await shows('KEY REFUSED')
})

screens('data cannot reach the terminal', async () => {
  const { answers, send, text, dashboard } = await open()
  const userRef = 'a\x1b[2J\u202eb\x07\nc'
  answers['listConnections'] = { connections: [connection(1, { userRef })] }
  send('  ')
  await until('the new list', () => dashboard.listed().length === 1)
  assert.match(text(), /a�\[2J�b��c/)
  for (const harmful of ['\x07', '\u202e', '\x1b[2J']) assert.not.ok(text().includes(harmful))
})

screens('a terminal that is too small says so', async () => {
  const { dashboard, shows, text } = await open()
  dashboard.resize({ columns: 60, rows: 20 })
  await shows('at least 80x24')
  dashboard.resize({ columns: 80, rows: 24 })
  await shows('user-1')
  assert.is(text().split('\n').length, 23)
})

screens('q and Ctrl-C end', async () => {
  for (const key of ['q', '\x03']) {
    const { send, isEnded } = await open()
    send(key)
    assert.ok(isEnded())
  }
})

screens.run()
