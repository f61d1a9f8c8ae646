import { once } from 'node:events'
import { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { render } from 'ink'
import { createElement } from 'react'
import { fakeService } from '../test/tui/data.ts'
import { createDashboard } from '../tui/dashboard.ts'
import { keyReader } from '../tui/keys.ts'
import { Screen } from '../tui/screen.tsx'
import { printLimit } from './row.ts'

/** From a key to what it changes being written to the terminal, with 500 live actors in the list and the largest terminal that is tested. */
const SIZE = { columns: 200, rows: 60 }
const KEYS = 200
const MOST_MS = 50
/** As the program itself has it. */
const FRAMES_PER_SECOND = 60

/** A terminal that says when it was written to. */
class Terminal extends Writable {
  columns = SIZE.columns
  rows = SIZE.rows
  isTTY = true
  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done()
    this.emit('drawn')
  }
}

const { client } = fakeService()
const dashboard = createDashboard({ client, view: 'actors', readOnly: false, onEnd: () => undefined })
dashboard.resize(SIZE)
const terminal = new Terminal()
const screen = render(createElement(Screen, { dashboard }), {
  stdout: terminal as unknown as NodeJS.WriteStream,
  patchConsole: false,
  maxFps: FRAMES_PER_SECOND,
})
const press = keyReader(dashboard.press)
dashboard.start()
while (dashboard.listed().length < 500) await once(terminal, 'drawn')

const times: number[] = []
for (let key = 0; key < KEYS; key++) {
  // At rest: what is drawn next is what the key changed.
  await wait(50)
  const drawn = once(terminal, 'drawn')
  const begin = performance.now()
  press(key % 20 === 19 ? 'G' : key % 20 === 0 ? 'g' : 'j')
  await drawn
  times.push(performance.now() - begin)
}
const p95 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0
printLimit({
  what: 'a key press in the terminal until it is drawn, 500 actors, p95',
  value: p95,
  most: MOST_MS,
  unit: 'ms',
})
dashboard.stop()
screen.unmount()
process.exit()
