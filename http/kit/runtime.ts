import type { Runtime } from '../../core/process.ts'
import type { ProviderProfile } from '../../provider/profile.ts'

/** What everything in http works with. */
export interface HttpRuntime extends Runtime {
  /** The providers of this deployment, the default first. */
  profiles: ProviderProfile[]
}
