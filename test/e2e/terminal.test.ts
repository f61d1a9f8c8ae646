import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { signLink } from '../../sdk/src/index.ts'
import { type Service, startService } from '../support/service.ts'
import { openTerminal, type Terminal } from '../support/terminal.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser, PHONE, signIn } from '../support/visitor.ts'

const terminal = suite('the operators’ terminal, on a service with sign-ins under way')
const ROOT = new URL('../..', import.meta.url).pathname
const run = promisify(execFile)

let service: Service
let browser: Browser
const open = new Set<Terminal>()

terminal.before(async () => {
  service = await startService({ env: { TIME_SCALE: '10' } })
  browser = await openVisitorBrowser()
})
terminal.after(async () => {
  for (const each of open) await each.close()
  await browser?.close()
  await service?.stop()
})

const environment = () => ({ CCS_OPS_URL: service.operator.url, CCS_OPS_KEY: service.operator.key, CI: 'false' })

async function start({ columns = 80, rows = 24, args = '' } = {}): Promise<Terminal> {
  const command = `node start/bootstrap.js tui ${args}`
  const opened = await openTerminal({ command, env: environment(), columns, rows, cwd: ROOT })
  open.add(opened)
  await opened.shows(/age \d+ s/)
  return opened
}

async function visit(userRef: string, device: object = {}) {
  const { appId, appSecret } = service.app
  const { url } = signLink({ baseUrl: service.baseUrl, appId, appSecret, userRef })
  const context = await browser.newContext(device)
  const page = await context.newPage()
  await page.goto(url)
  return { page: hostedPage(page), close: () => context.close() }
}

terminal('shows who signs in, what came of it, and purges it', async () => {
  const phone = await visit('on-a-phone', PHONE)
  const desktop = await visit('at-a-desk')
  await phone.page.reaches('live')
  await signIn(desktop.page, { email: 'grace@example.test' })
  const seen = await start()
  await seen.press('4')
  await seen.shows(/● live +on-a-phone +demo +phone +390x\d+ +● present/)
  await seen.type('/phone')
  await seen.press('Enter')
  await seen.shows('Browsers (1)')
  await seen.press('x')
  await seen.shows('is released')
  await phone.close()

  await desktop.page.reaches('connected')
  await desktop.close()
  await seen.press('3')
  await seen.shows(/> ● active +at-a-desk/)
  await seen.press('y')
  await seen.shows(/is (?:not )?synced/)
  await seen.press('Enter')
  const detail = await seen.shows('Last syncs')
  const [, id = ''] = /Connections › ([0-9a-f-]{36})/.exec(detail) ?? []
  await seen.shows('complete')
  await seen.press('Escape')
  await seen.press('5')
  await seen.shows(/● delivered +connection.created +at-a-desk/)
  await seen.press('3')
  await seen.shows('at-a-desk')
  await seen.press('p')
  await seen.shows('1 connection revoked, 3 conversations deleted')
  await seen.type('no')
  await seen.press('Enter')
  await seen.shows('nothing was deleted')
  await seen.press('p')
  await seen.shows('1 connection revoked')
  await seen.type(id)
  await seen.press('Enter')
  await seen.shows('purged: 1 connection')
  await seen.shows(/○ revoked +at-a-desk/)
  await seen.press('6')
  await seen.shows(/purge +operator/)
  await seen.press('q')
  await seen.shows('ended 0')
})

for (const [columns, rows] of [
  [80, 24],
  [120, 40],
  [200, 60],
] as const) {
  terminal(`every view fits ${columns}x${rows} and shows no secret`, async () => {
    const seen = await start({ columns, rows })
    const titles = ['Overview', 'Actors', 'Connections', 'Browsers', 'Deliveries', 'Audit']
    for (const [index, title] of titles.entries()) {
      await seen.press(String(index + 1))
      const text = await seen.shows(new RegExp(`\\n ${title} \\(\\d+\\)  age \\d+ s`))
      assert.match(text, /\? help {2}q end/)
      for (const secret of [service.operator.key, ...Object.values(service.app).slice(1)])
        assert.not.ok(text.includes(secret))
    }
    await seen.close()
  })
}

terminal('leaves the terminal as it was, whatever ends it', async () => {
  for (const end of ['q', 'C-c', 'SIGTERM', 'SIGHUP'] as const) {
    const seen = await start()
    assert.equal(await seen.modes(), { alternate: true, cursor: false })
    if (end === 'q' || end === 'C-c') await seen.press(end)
    else process.kill(await seen.pid(), end)
    const left = await seen.shows(/ended \d+/)
    assert.match(left, /^before\n/)
    assert.not.match(left, /Overview/)
    assert.equal(await seen.modes(), { alternate: false, cursor: true }, end)
    await seen.close()
  }
})

terminal('resizes, says what the least size is, and does without colours', async () => {
  const seen = await start({ args: '--read-only --view actors' })
  await seen.shows('read-only')
  await seen.resize(60, 20)
  await seen.shows('at least 80x24')
  await seen.resize(120, 40)
  await seen.shows('? help')
  assert.is((await seen.screen()).filter((line) => line.includes('[2 Actors]')).length, 1)
  await seen.close()
})

terminal('names a lost service and finds it again', async () => {
  const seen = await start()
  const { http = [] } = await service.processIds()
  for (const pid of http) process.kill(pid, 'SIGSTOP')
  await seen.shows('SERVICE LOST: it does not answer')
  for (const pid of http) process.kill(pid, 'SIGCONT')
  await until('found again', async () => !(await seen.screen()).join('\n').includes('SERVICE LOST'))
  await seen.close()
})

terminal('prints one snapshot where there is no terminal; its status tells how it went', async () => {
  const print = async (args: string[], more: Record<string, string> = {}) => {
    const env = { ...process.env, ...environment(), ...more }
    const argv = ['start/bootstrap.js', 'tui', ...args]
    const ended = run(process.execPath, argv, { cwd: ROOT, env }).then(
      ({ stdout }) => ({ status: 0, stdout }),
      (error: { code: number; stdout: string }) => ({ status: error.code, stdout: error.stdout }),
    )
    return ended
  }
  const { status, stdout } = await print(['--json', '--view', 'overview'])
  assert.is(status, 0)
  const { view, at, counts } = JSON.parse(stdout)
  assert.equal([view, typeof at, typeof counts.connections.active], ['overview', 'string', 'number'])
  assert.is(JSON.parse((await print(['--view', 'actors'])).stdout).view, 'actors')
  assert.is((await print(['--key', 'wrong'])).status, 1)
  assert.is((await print(['--url', 'http://127.0.0.1:9/ops'])).status, 1)
  assert.is((await print(['--view', 'none'])).status, 2)
  assert.is((await print(['--odd'])).status, 2)
  assert.is((await print([], { CCS_OPS_KEY: '' })).status, 2)
})

terminal.run()
