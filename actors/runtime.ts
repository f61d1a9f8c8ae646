import type { Runtime } from '../core/process.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import type { HeldClaims } from '../schemas/held-claims.ts'

/** What every actor works with. */
export interface ActorRuntime extends Runtime {
  held: HeldClaims
  profiles: ProviderProfile[]
  /** Names of paces are made with it (`sync/pace.ts`). */
  paceKey: Buffer
}

/** The process stops: what is under way ends in good order, or is handed back. */
export class Stopping extends Error {
  override name = 'Stopping'
  constructor() {
    super('the process stops')
  }
}
