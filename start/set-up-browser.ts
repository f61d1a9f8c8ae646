import { execFile, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { chromium } from 'playwright'

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
  const own = chromium.executablePath()
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
  const cli = join(dirname(createRequire(import.meta.url).resolve('playwright/package.json')), 'cli.js')
  const system = process.getuid?.() === 0 && (await works(APT)) ? ['--with-deps'] : []
  await run({ command: process.execPath, args: [cli, 'install', ...system, '--no-shell', 'chromium'], signal })
  return true
}

async function installDebian({ log, signal }: Options): Promise<true> {
  if (process.getuid?.() !== 0) throw new Error('its installation needs root')
  await access(APT, constants.X_OK)
  log('Installing the package chromium')
  const install = ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '--no-install-recommends']
  const packages = ['chromium', 'fonts-liberation']
  try {
    await run({ command: APT, args: [...install, ...packages], signal })
  } catch (error) {
    if (signal?.aborted) throw error
    // A fresh machine has no package lists yet.
    await run({ command: APT, args: ['update'], signal })
    await run({ command: APT, args: [...install, ...packages], signal })
  }
  return true
}

function run(options: { command: string; args: string[]; signal: AbortSignal | undefined }): Promise<void> {
  const { command, args, signal } = options
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...(signal && { signal }) })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-500)
      })
    }
    child.on('error', reject)
    child.on('close', (status) => {
      if (status === 0) resolve()
      else reject(new Error(`${command} ended with status ${status}: ${said.trim()}`))
    })
  })
}
