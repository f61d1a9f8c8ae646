import { SILENCE_MS } from '../../../../wire/stream-constants.ts'
import { find } from '../../kit/assets/dom.ts'

/** What the service answers a request of this page; null where it does not answer, or with an error that may pass. */
export async function post<T>(
  path: string,
  more: object = {},
): Promise<{ ok: T } | { error: string | undefined } | null> {
  const { flow = '' } = find('main.start').dataset
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // A network that passes nothing refuses nothing.
    signal: AbortSignal.timeout(SILENCE_MS),
    body: JSON.stringify({ flow, ...more }),
  }).catch(() => null)
  if (!answer || answer.status >= 500) return null
  const body = (await answer.json().catch(() => ({}))) as T & { error?: string }
  return answer.ok ? { ok: body } : { error: body.error }
}
