import { MINUTE, SECOND } from '../core/clock.ts'

/** After so many crashes in a row a document is quarantined and shown to operators (docs/architecture.md, idea 3). */
export const CRASHES_TO_QUARANTINE = 5
const FIRST_BACK_OFF_MS = 5 * SECOND
const LONGEST_BACK_OFF_MS = 10 * MINUTE

/** Service time (ms) before work that crashed `crashes` times in a row is tried again. */
export const crashBackOff = (crashes: number): number =>
  Math.min(FIRST_BACK_OFF_MS * 4 ** (crashes - 1), LONGEST_BACK_OFF_MS)
