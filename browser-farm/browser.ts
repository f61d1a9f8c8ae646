import { type Browser, chromium } from 'playwright'
import { SECOND } from '../core/clock.ts'
import type { Runtime } from '../core/process.ts'

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
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]
const LAUNCH_TIMEOUT_MS = 30 * SECOND
/** Between attempts to launch: a machine that is short of memory needs a moment. */
const RELAUNCH_MS = SECOND

export interface FarmBrowser {
  /** Undefined while it is being launched again. */
  current(): Browser | undefined
  stop(): Promise<void>
}

/** Keeps one Chromium running. The first launch must succeed; after that it is launched again whenever it dies. */
export async function startBrowser({
  config,
  clock,
  log,
}: Pick<Runtime, 'config' | 'clock' | 'log'>): Promise<FarmBrowser> {
  const stopping = new AbortController()
  let current: Browser | undefined

  const launch = async (): Promise<void> => {
    const browser = await chromium.launch({
      ...(config.CHROMIUM_PATH && { executablePath: config.CHROMIUM_PATH }),
      headless: true,
      // Chromium's sandbox refuses to run as root.
      chromiumSandbox: process.getuid?.() !== 0,
      args: FLAGS,
      timeout: LAUNCH_TIMEOUT_MS,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    })
    if (stopping.signal.aborted) return browser.close()
    current = browser
    browser.once('disconnected', () => {
      current = undefined
      if (stopping.signal.aborted) return
      log.error('the browser died; launching it again')
      void relaunch()
    })
  }
  const relaunch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        return await launch()
      } catch (error) {
        log.error({ err: error }, 'the browser could not be launched')
        await clock.sleep(RELAUNCH_MS, stopping.signal).catch(() => undefined)
      }
    }
  }

  await launch()
  return {
    current: () => current,
    stop: async () => {
      stopping.abort()
      await current?.close().catch(() => undefined)
    },
  }
}
