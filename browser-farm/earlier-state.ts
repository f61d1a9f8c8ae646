import { unseal } from '../core/envelope.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import { BrowserProfiles } from '../schemas/connection/browser-profile.ts'
import { type Connection, Connections } from '../schemas/connection/connection.ts'
import type { Lease } from '../schemas/lease/lease.ts'
import { PROFILE_PURPOSE } from '../schemas/secrets.ts'
import type { BrowserState } from './open-context.ts'
import { ownState } from './own-state.ts'
import type { FarmRuntime } from './runtime.ts'

/**
 * What the browser of an earlier connection remembered, where its session has ended and the user is about to connect again: the
 * provider then knows the device. Undefined where there is none that opens.
 */
export async function earlierState({
  lease: { appId, userId, provider },
  profile,
  runtime: { keyring, log },
}: {
  lease: Lease
  profile: ProviderProfile
  runtime: Pick<FarmRuntime, 'keyring' | 'log'>
}): Promise<BrowserState | undefined> {
  try {
    const connection = await Connections.findOne({ appId, userId, provider, status: 'needs_reauth' })
      .sort({ capturedAt: -1 })
      .lean<Connection>()
    if (!connection?.key) return undefined
    const stored = await BrowserProfiles.findById(connection._id).lean()
    if (!stored) return undefined
    const context = { owner: connection._id, purpose: PROFILE_PURPOSE }
    const text = unseal(keyring.unwrap(connection.key), context, stored.sealed).toString('utf8')
    return ownState(JSON.parse(text) as BrowserState, profile)
  } catch (error) {
    log.warn({ err: error }, 'an earlier browser profile does not open')
    return undefined
  }
}
