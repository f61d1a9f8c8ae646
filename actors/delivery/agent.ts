import type { Agent } from 'undici'
import { SECOND } from '../../core/clock.ts'
import { createPublicAgent } from '../../core/public-agent.ts'
import type { Resolve } from '../../core/public-lookup.ts'

/** Where an answer must be complete (docs/behaviour.md, Limits); a connection that takes longer is of no use to anyone. */
export const ATTEMPT_LIMIT_MS = 10 * SECOND
/** Shorter than the 5 s after which common servers close an idle connection: a request must not meet that moment. */
const KEEP_ALIVE_MS = 4 * SECOND

/** Four times what is read of an answer (answer.ts): headers, and whatever frames small chunks. */
const MOST_BYTES = 256 * 1_024

/**
 * Connections to webhooks, kept alive between deliveries. No bound of its own on their number: each app has one already, and a
 * bound per host would let one app's hanging endpoint hold up another's on the same host.
 */
export const createWebhookAgent = (options: { allowPrivate: boolean; resolve?: Resolve }): Agent =>
  createPublicAgent({
    ...options,
    connectMs: ATTEMPT_LIMIT_MS,
    mostBytes: MOST_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
