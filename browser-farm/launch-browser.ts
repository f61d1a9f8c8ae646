import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright'
import { SECOND } from '../core/clock.ts'
import type { Config } from '../core/config.ts'
import { browserEnvironment } from './browser-environment.ts'
import { withBoundedOutput } from './browser-output.ts'
import { ownTemporaryFolder } from './temporary-folder.ts'

/** Chromium takes the last of each of these two flags alone, so that what Playwright names stands here too. */
const ENABLED = [
  // Without a process for the network: that is no sandbox on Linux, and 30 MB and 150 ms of each browser.
  'NetworkServiceInProcess2',
  'SkipListAccountsWithoutGaiaCookies',
  'CDPScreenshotNewSurface',
]
const DISABLED = [
  // What drops down from an address bar that nobody sees: two pages of Chromium's own for each window, 50 MB and 400 ms of a core.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'TcpPortRandomizationWin',
  'ThirdPartyStoragePartitioning',
  'msEdgeUpdateLaunchServicesPreferredVersion',
  'msForceBrowserSignIn',
]

/**
 * Nothing in the browser but the visitor's page uses the network: no updates, no sync, no QUIC (it would pass by the proxy), no
 * WebRTC outside of the proxy, and no name is resolved here (the guard proxy does, see guard-proxy.ts).
 */
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The name that it has now, and the one that it had.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  `--enable-features=${ENABLED.join(',')}`,
  `--disable-features=${DISABLED.join(',')}`,
  // Passkeys lie in the visitor's own devices, out of reach: sites that look for them first offer another way (others: `askForNoPasskeys`).
  '--disable-blink-features=WebAuth',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]
/** What Playwright adds for tests: here a window opens where the visitor has clicked or pressed a key, and not otherwise. */
const NOT_WANTED = ['--disable-popup-blocking']
const LAUNCH_TIMEOUT_MS = 30 * SECOND
/** Processes of a browser that is ending may still write: its folder is tried again so often, 100 ms apart at first. */
const REMOVE_RETRIES = 5

/**
 * A Chromium process with a profile folder, a home and a clipboard of its own; when it has gone, so have they. It is spoken to over a pipe: when
 * this process dies, however, the browser ends too.
 */
export async function launchBrowser({ CHROMIUM_PATH }: Pick<Config, 'CHROMIUM_PATH'>): Promise<Browser> {
  const home = await mkdtemp(join(await ownTemporaryFolder(), 'b-'))
  const leave = (): void =>
    void rm(home, { recursive: true, force: true, maxRetries: REMOVE_RETRIES }).catch(() => undefined)
  try {
    const own = `--crash-dumps-dir=${home}`
    const env = await browserEnvironment(home)
    const launch = (): Promise<Browser> =>
      chromium.launch({
        ...(CHROMIUM_PATH && { executablePath: CHROMIUM_PATH }),
        headless: true,
        // Chromium's sandbox refuses to run as root.
        chromiumSandbox: process.getuid?.() !== 0,
        args: [...FLAGS, own],
        ignoreDefaultArgs: NOT_WANTED,
        env,
        timeout: LAUNCH_TIMEOUT_MS,
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      })
    const browser = await withBoundedOutput({ mark: own, launch })
    browser.once('disconnected', leave)
    return browser
  } catch (error) {
    leave()
    throw error
  }
}
