import type { Dispatcher } from 'undici'
import type { Clock } from '../../core/clock.ts'
import { webhookUrlProblem } from '../../core/public-address.ts'
import type { AttemptResult } from '../../schemas/delivery/delivery.ts'
import { ATTEMPT_LIMIT_MS } from './agent.ts'
import { takeAnswer } from './answer.ts'
import { INTERRUPTED, statusProblem, TOO_SLOW } from './failure.ts'
import { EVENT_HEADER, SIGNATURE_HEADER, signatureOf } from './signature.ts'

/** Where a webhook's URL leads to. */
export interface Target {
  origin: string
  /** With what follows the question mark. */
  path: string
}

/** Parsed and judged once for all attempts that are made to it, or why none can be. */
export function targetOf(url: string, options: { allowPrivate: boolean }): Target | { problem: string } {
  const problem = webhookUrlProblem(url, options)
  if (problem) return { problem }
  const { origin, pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

export interface SendOptions {
  agent: Dispatcher
  clock: Clock
  target: Target
  event: string
  /** Sent byte for byte. */
  body: string
  /** Secrets that are valid now. */
  secrets: string[]
  /** Ends the attempt early: the process stops. */
  signal: AbortSignal
}

/** Milliseconds to two digits, as people read them: results that are alike are recorded together (settleDeliveries). */
const rounded = (ms: number): number => Number(Math.round(ms).toPrecision(2))

/**
 * One attempt: signs, posts, reads the answer. Never throws: whatever goes wrong is the result's `error`, in words for people.
 * Connection, headers and body share 10 s of machine time.
 */
export async function sendWebhook(options: SendOptions): Promise<AttemptResult> {
  const { clock, signal } = options
  const began = clock.elapsed()
  const ended = (result: Omit<AttemptResult, 'durationMs'>): AttemptResult => ({
    ...result,
    durationMs: rounded(clock.elapsed() - began),
  })
  if (signal.aborted) return ended({ error: INTERRUPTED })
  const { answer, end, handler } = takeAnswer()
  const onStop = () => end(INTERRUPTED)
  const timer = clock.timer(ATTEMPT_LIMIT_MS, () => end(TOO_SLOW))
  signal.addEventListener('abort', onStop, { once: true })
  post(options, handler)
  const { status, text, problem: error = statusProblem(status ?? 0) } = await answer
  timer.cancel()
  signal.removeEventListener('abort', onStop)
  return ended({ ...(status !== undefined && { status }), ...(error && { error }), ...(text && { answer: text }) })
}

function post({ agent, clock, target, event, body, secrets }: SendOptions, handler: Dispatcher.DispatchHandler): void {
  const bytes = Buffer.from(body)
  const signature = signatureOf({ body: bytes, secrets, now: clock.now() })
  agent.dispatch(
    {
      ...target,
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'ccs-webhooks',
        [EVENT_HEADER]: event,
        ...(signature && { [SIGNATURE_HEADER]: signature }),
      },
      body: bytes,
    },
    handler,
  )
}
