import type { Runtime } from '../core/process.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import type { FarmBrowser } from './browser.ts'
import type { GuardProxies } from './guard-proxy.ts'

/** What every part of one farm node works with. */
export interface FarmRuntime extends Runtime {
  profiles: ProviderProfile[]
  browser: FarmBrowser
  proxies: GuardProxies
}
