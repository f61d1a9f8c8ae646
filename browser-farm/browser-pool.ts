import type { Browser } from 'playwright'
import { SECOND } from '../core/clock.ts'
import type { Runtime } from '../core/process.ts'
import { tell } from '../schemas/wakeups.ts'
import { launchBrowser } from './launch-browser.ts'

/** Browsers that run before a lease wants them: a launch takes a fraction of a second, and a visitor would wait for it. */
const SPARES = 1
/** After one was taken: a launch keeps a core busy for as long as its visitor's page opens, which comes first (machine time). */
const REFILL_MS = 300
/** Between attempts to launch: a machine that is short of memory needs a moment. */
const RELAUNCH_MS = SECOND

/** A browser process for each lease (docs/security.md, Between visitors, between secrets), some of them launched ahead of time. */
export interface BrowserPool {
  /** How many wait to be taken. */
  ready(): number
  /** False since a launch has failed, until one succeeds. */
  works(): boolean
  /** A browser that nobody has used. It belongs to the taker, who closes it. Throws the signal's reason. */
  take(signal: AbortSignal): Promise<Browser>
  stop(): Promise<void>
}

/** The first launch must succeed; after that it is tried again and again. */
export async function startBrowserPool({
  config,
  clock,
  log,
}: Pick<Runtime, 'config' | 'clock' | 'log'>): Promise<BrowserPool> {
  const stopping = new AbortController()
  const spares = new Set<Browser>()
  const takers = new Set<(browser: Browser) => void>()
  let works = true
  let filling: Promise<void> | undefined

  const offer = (browser: Browser): void => {
    const [taker] = takers
    if (taker) {
      takers.delete(taker)
      taker(browser)
      return
    }
    spares.add(browser)
    // A flow that waits for one is claimed at once.
    tell('leases')
    browser.once('disconnected', () => {
      if (!spares.delete(browser) || stopping.signal.aborted) return
      log.error('a browser died; launching another')
      fill()
    })
  }
  const launch = async (): Promise<void> => {
    const browser = await launchBrowser(config)
    if (stopping.signal.aborted) await browser.close()
    else offer(browser)
  }
  const wanted = (): boolean => !stopping.signal.aborted && (takers.size > 0 || spares.size < SPARES)
  const launchWanted = async (): Promise<void> => {
    while (wanted()) {
      try {
        await launch()
        works = true
      } catch (error) {
        works = false
        log.error({ err: error }, 'a browser could not be launched')
        await clock.sleep(RELAUNCH_MS, stopping.signal).catch(() => undefined)
      }
    }
    filling = undefined
  }
  /** One launch at a time: two at once take twice as long. */
  const fill = (): void => {
    filling ??= launchWanted()
  }

  await launch()
  return {
    ready: () => spares.size,
    works: () => works,
    take: async (signal) => {
      signal.throwIfAborted()
      const [spare] = spares
      if (spare) {
        spares.delete(spare)
        clock.timer(REFILL_MS, fill)
        return spare
      }
      return new Promise<Browser>((resolve, reject) => {
        const taker = (browser: Browser): void => {
          signal.removeEventListener('abort', leave)
          resolve(browser)
        }
        const leave = (): void => {
          takers.delete(taker)
          reject(signal.reason)
        }
        signal.addEventListener('abort', leave, { once: true })
        takers.add(taker)
        fill()
      })
    },
    stop: async () => {
      stopping.abort()
      await filling
      await Promise.all([...spares].map((browser) => browser.close().catch(() => undefined)))
    },
  }
}
