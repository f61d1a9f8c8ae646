import stringWidth from 'string-width'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDashboard } from '../../tui/dashboard.ts'
import { draw } from '../../tui/draw.ts'
import { keyReader } from '../../tui/keys.ts'
import { snapshot } from '../../tui/snapshot.ts'
import { VIEW_NAMES } from '../../tui/view.ts'
import { until } from '../support/until.ts'
import { fakeService, NOW } from './data.ts'

const hostile = suite('what others name things, on a terminal')

/** Clears, writes the clipboard, links, names the window; in 8-bit controls too; turns, hides and heaps up what stands around it. */
const HOSTILE = [
  '\x1b[2J',
  '\x1b]52;c;QUFB\x07',
  '\x1b]8;;http://x.example\x1b\\',
  '\u009b2J\u009d0;title\u009c\x7f',
  '\u202etxt\u2066\u200b\u200d\ufeff\u00ad\u061c',
  '\u3164\u115f\u034f\u180e\u{e0041}\ufff9',
  `z${'\u0301\u0489'.repeat(60)}`,
  '漢字カナ😀',
  '\r\n\t\b\0',
].join('')
const HARMFUL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\u115f|\u3164|\u034f|\p{M}{4}/u
const KEPT = new Set(['kind', 'status'])

/** Every text of an answer that a service could put it in. */
function poisoned(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return KEPT.has(name) || /^\d{4}-.*Z$/.test(value) ? value : `${value}${HOSTILE}`
  if (Array.isArray(value)) return value.map((each) => poisoned(each, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, poisoned(each, key)]))
}

function hostileService() {
  const service = fakeService()
  for (const [name, answer] of Object.entries(service.answers)) service.answers[name] = poisoned(answer)
  return service
}

for (const view of VIEW_NAMES) {
  hostile(`${view}: nothing of it reaches the terminal as anything but a picture`, async () => {
    const { client } = hostileService()
    const dashboard = createDashboard({ client, view, readOnly: false, onEnd: () => undefined, now: () => NOW })
    const send = keyReader(dashboard.press)
    const look = (): void => {
      for (const { text } of draw(dashboard)) {
        assert.not.match(text, HARMFUL, JSON.stringify(text))
        assert.ok(stringWidth(text) <= 120, JSON.stringify(text))
      }
    }
    dashboard.resize({ columns: 120, rows: 40 })
    dashboard.start()
    try {
      await until('the first load', () => dashboard.state().loaded[view] !== undefined)
      look()
      send('\r')
      look()
      await until('the detail', () => dashboard.state().opened?.more !== null)
      look()
      send('yrxP')
      look()
      await until('an answer', () => dashboard.state().message !== null || dashboard.state().dialog === null)
      look()
    } finally {
      dashboard.stop()
    }
  })

  hostile(`${view}: as JSON it is the same data, and as harmless`, async () => {
    const { client } = hostileService()
    const text = await snapshot({ client, view })
    assert.not.match(text, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
    const { view: _view, at: _at, ...data } = JSON.parse(text)
    assert.match(JSON.stringify(data), JSON.stringify(HOSTILE).slice(1, -1))
  })
}

hostile.run()
