import type { BrowserContext } from 'playwright'
import { seal, unseal } from '../core/envelope.ts'
import { parseUrl } from '../core/parse-url.ts'
import { hostAllowed, type ProviderProfile } from '../provider/profile.ts'
import type { Lease } from '../schemas/lease/lease.ts'
import { answerOf } from './answer-of.ts'
import type { BrowserState } from './open-context.ts'
import type { FarmRuntime } from './runtime.ts'

/** Where a visitor was: the page's address and what the browser remembered. */
export interface Place {
  address: string
  state: BrowserState
}

const PURPOSE = 'place'
/** A lease has to stay a small document: whoever's browser remembers more begins at the login page again. */
const LONGEST_PLACE = 1_000_000

/** What a flow whose browser goes can go on with, sealed; undefined where that cannot be had. */
export async function sealPlace({
  lease: { _id },
  context,
  profile,
  runtime: { keyring, clock, log },
}: {
  lease: Pick<Lease, '_id'>
  context: BrowserContext
  profile: ProviderProfile
  runtime: Pick<FarmRuntime, 'keyring' | 'clock' | 'log'>
}): Promise<Lease['place']> {
  try {
    const url = parseUrl(context.pages()[0]?.url() ?? '')
    if (!url || !/^https?:$/.test(url.protocol) || !hostAllowed(profile, url.hostname)) return undefined
    const state = await answerOf(context.storageState(), clock)
    if (!state) return undefined
    const place: Place = { address: url.href, state }
    const text = JSON.stringify(place)
    if (text.length > LONGEST_PLACE) return undefined
    const { key, wrapped } = keyring.newDataKey()
    return { key: wrapped, sealed: seal(key, { owner: _id, purpose: PURPOSE }, text) }
  } catch (error) {
    log.info({ err: error, lease: _id }, 'the place of a flow could not be kept')
    return undefined
  }
}

/** Where the flow goes on; undefined where nothing was kept, or nothing that opens. */
export function openPlace({
  lease: { _id, place },
  runtime: { keyring, log },
}: {
  lease: Pick<Lease, '_id' | 'place'>
  runtime: Pick<FarmRuntime, 'keyring' | 'log'>
}): Place | undefined {
  if (!place) return undefined
  try {
    const text = unseal(keyring.unwrap(place.key), { owner: _id, purpose: PURPOSE }, place.sealed).toString('utf8')
    return JSON.parse(text) as Place
  } catch (error) {
    log.warn({ err: error, lease: _id }, 'the place of a flow does not open')
    return undefined
  }
}
