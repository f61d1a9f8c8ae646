import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from '../../core/clock.ts'
import { installDebianPackages } from './debian-packages.ts'
import { runCommand } from './run-command.ts'

const PLAYWRIGHT_HOST = 'https://cdn.playwright.dev/'
const PROBE_LIMIT_MS = 4_000
const VERSION_LIMIT_MS = 20_000
const APT = '/usr/bin/apt-get'

interface Options {
  log: (message: string) => void
  signal?: AbortSignal
}

/**
 * Path of the browser to use: `CHROMIUM_PATH`; Playwright's own; Debian's `chromium`. What is there already goes before any
 * download; then Playwright's is downloaded, or Debian's installed. Throws one clear error when none can be had.
 */
export async function findBrowser({
  log,
  chromiumPath,
  signal,
}: {
  log: (message: string) => void
  chromiumPath?: string | undefined
  /** Ends a download or an installation that is under way. */
  signal?: AbortSignal
}): Promise<string> {
  if (chromiumPath) {
    if (await works(chromiumPath)) return chromiumPath
    throw new Error(`CHROMIUM_PATH: ${chromiumPath} is no browser that runs here`)
  }
  const options = { log, ...(signal && { signal }) }
  const own = await ownPath()
  if (await works(own)) return own
  const installed = await onPath('chromium')
  if (installed) return installed
  const reasons: string[] = []
  for (const [name, obtain] of [
    ["Playwright's", async () => ((await downloadOwn(options)) ? own : undefined)],
    ["Debian's", async () => ((await installDebian(options)) ? onPath('chromium') : undefined)],
  ] as const) {
    try {
      const path = await obtain()
      if (path && (await works(path))) return path
      reasons.push(`${name}: does not run here`)
    } catch (error) {
      reasons.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new Error(`No browser found. Set CHROMIUM_PATH or install chromium. Tried ${reasons.join('; ')}`)
}

const { resolve } = createRequire(import.meta.url)

/** Where Playwright would have its own. Asked in a process that ends: the parent of the service's processes would keep 60 MiB for it. */
async function ownPath(): Promise<string> {
  const script = `process.stdout.write(require(${JSON.stringify(resolve('playwright'))}).chromium.executablePath())`
  return (await promisify(execFile)(process.execPath, ['--eval', script])).stdout
}

/** A browser whose libraries are missing is found out here, before anybody waits for it. */
async function works(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    await promisify(execFile)(path, ['--version'], { timeout: VERSION_LIMIT_MS })
    return true
  } catch {
    return false
  }
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    if (folder && (await works(join(folder, name)))) return join(folder, name)
  }
  return undefined
}

/** The download itself retries for minutes; a host that cannot be reached is noticed here within seconds. */
async function downloadOwn({ log, signal }: Options): Promise<true> {
  await fetch(PLAYWRIGHT_HOST, { method: 'HEAD', signal: AbortSignal.timeout(PROBE_LIMIT_MS) }).catch((error) => {
    throw new Error(`${PLAYWRIGHT_HOST} cannot be reached`, { cause: error })
  })
  log('Downloading a browser (about 170 MB, once)')
  const cli = join(dirname(resolve('playwright/package.json')), 'cli.js')
  const system = process.getuid?.() === 0 && (await works(APT)) ? ['--with-deps'] : []
  await runCommand(process.execPath, [cli, 'install', ...system, '--no-shell', 'chromium'], { signal })
  return true
}

async function installDebian({ log, signal }: Options): Promise<true> {
  if (process.getuid?.() !== 0) throw new Error('its installation needs root')
  if (!(await works(APT))) throw new Error('this is no Debian')
  log('Installing the package chromium')
  const packages = ['chromium', 'fonts-liberation']
  await installDebianPackages({ packages, env: process.env, clock: systemClock(), signal })
  return true
}
