import type { Runtime } from '../core/process.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import type { BrowserPool } from './browser-pool.ts'
import type { GuardProxies } from './guard-proxy.ts'

/** What every part of one farm node works with. */
export interface FarmRuntime extends Runtime {
  profiles: ProviderProfile[]
  browsers: BrowserPool
  proxies: GuardProxies
}
