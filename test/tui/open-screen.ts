import { render } from 'ink-testing-library'
import { createElement } from 'react'
import { createDashboard } from '../../tui/dashboard.ts'
import { keyReader } from '../../tui/keys.ts'
import { Screen } from '../../tui/screen.tsx'
import type { ViewName } from '../../tui/view.ts'
import { until } from '../support/until.ts'
import { fakeService, NOW } from './data.ts'

export const ESCAPE = '\x1b'

const ends: (() => void)[] = []
export function closeScreens(): void {
  for (const end of ends.splice(0)) end()
}

/** The terminal's program on a service of data, until `closeScreens`: what it shows, and what its keys do. */
export async function openScreen({ view = 'connections' as ViewName, readOnly = false, columns = 80, rows = 24 } = {}) {
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
