import type { Principal } from '../../schemas/principal.ts'
import type { HttpRuntime } from '../kit/runtime.ts'

/** What every action takes beside its own: for whom it is done, whichever way they asked. */
export interface Act {
  by: Principal
  runtime: Pick<HttpRuntime, 'clock' | 'keyring' | 'config'>
}
