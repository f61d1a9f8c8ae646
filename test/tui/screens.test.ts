import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { OpsError } from '../../tui/client.ts'
import { draw } from '../../tui/draw.ts'
import { sparkline } from '../../tui/text.ts'
import { until } from '../support/until.ts'
import { connection, NOW } from './data.ts'
import { closeScreens, ESCAPE, openScreen } from './open-screen.ts'

const screens = suite('the screens of the terminal')
screens.after.each(closeScreens)

screens('each view is named in the first two rows and fits its terminal', async () => {
  for (const [columns, rows] of [
    [80, 24],
    [120, 40],
    [200, 60],
  ] as const) {
    const { send, text, shows } = await openScreen({ view: 'overview', columns, rows })
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
  const { send, selects, shows, text } = await openScreen()
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
  const { send, selects, answers, shows, dashboard } = await openScreen()
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
  const { send, text, shows, isEnded } = await openScreen()
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

screens('a view stays fresh, and the service is not called lost, while its counts are slow', async () => {
  const { send, shows, answers, wait, dashboard, askedOf } = await openScreen()
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

screens('deliveries of an app are asked for by the filter', async () => {
  const { send, askedOf } = await openScreen({ view: 'deliveries' })
  send('/demo')
  await until('the question', () => JSON.stringify(askedOf('listDeliveries')).includes('"appId":"demo"'))
})

screens('the overview is whole on the least terminal; what is wrong has a colour, and a shape', async () => {
  const { dashboard, text, send, shows } = await openScreen({ view: 'overview' })
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

screens('a row opens with what is known of it', async () => {
  const { send, shows, text } = await openScreen()
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

screens('a row that is opened is loaded anew, and says which keys it has', async () => {
  const { send, shows, answers, wait } = await openScreen()
  send('\r')
  await shows('complete +4')
  await shows('Esc back  ↑↓ scroll  y sync  p purge  P purge user')
  answers['getConnection'] = { syncs: [{ at: new Date(NOW).toISOString(), outcome: 'rate-limited' }], deliveries: [] }
  wait(10_000)
  send('  ')
  await shows('rate-limited')
})

screens('an opened row scrolls to its end and back', async () => {
  const { send, shows, answers, text } = await openScreen()
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
  const { send, shows, text, answers } = await openScreen()
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
  const { send, shows, text, dashboard } = await openScreen({ view: 'actors', rows: 40 })
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
  const { send, shows, lose, wait, text } = await openScreen()
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
  const { answers, send, text, dashboard } = await openScreen()
  const userRef = 'a\x1b[2J\u202eb\x07\nc'
  answers['listConnections'] = { connections: [connection(1, { userRef })] }
  send('  ')
  await until('the new list', () => dashboard.listed().length === 1)
  assert.match(text(), /a�\[2J�b��c/)
  for (const harmful of ['\x07', '\u202e', '\x1b[2J']) assert.not.ok(text().includes(harmful))
})

screens('a terminal that is too small says so', async () => {
  const { dashboard, shows, text } = await openScreen()
  dashboard.resize({ columns: 60, rows: 20 })
  await shows('at least 80x24')
  dashboard.resize({ columns: 80, rows: 24 })
  await shows('user-1')
  assert.is(text().split('\n').length, 23)
})

screens('q and Ctrl-C end', async () => {
  for (const key of ['q', '\x03']) {
    const { send, isEnded } = await openScreen()
    send(key)
    assert.ok(isEnded())
  }
})

screens.run()
