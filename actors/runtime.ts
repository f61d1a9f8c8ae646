import type { Runtime } from '../core/process.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import type { HeldClaims } from '../schemas/held-claims.ts'

/** What every actor works with. */
export interface ActorRuntime extends Runtime {
  held: HeldClaims
  profiles: ProviderProfile[]
  /** Tells the relay that an outbox has something in it; losing the hint costs latency only. */
  outboxHint: () => void
}
