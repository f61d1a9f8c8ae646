import { ANSWER_TOO_LARGE } from '../../core/public-agent.ts'
import { NOT_PUBLIC } from '../../core/public-lookup.ts'
import { ATTEMPT_LIMIT_MS } from './agent.ts'

export const TOO_SLOW = `No complete answer within ${ATTEMPT_LIMIT_MS / 1_000} seconds`
export const INTERRUPTED = 'The attempt was interrupted by a restart of the service'
export const NO_WEBHOOK_URL = 'The app has no webhook URL'
export const NO_SECRET = 'The webhook secret cannot be opened with the configured master keys'

const REASONS: Record<string, string> = {
  [NOT_PUBLIC]: 'The host has no public address',
  [ANSWER_TOO_LARGE]: 'The answer is too large',
  ENOTFOUND: 'The host name cannot be resolved',
  EAI_AGAIN: 'The host name cannot be resolved at the moment',
  ECONNREFUSED: 'The connection was refused',
  ECONNRESET: 'The connection was closed before the answer was complete',
  UND_ERR_SOCKET: 'The connection was closed before the answer was complete',
  EPIPE: 'The connection was closed before the answer was complete',
  EHOSTUNREACH: 'The host cannot be reached',
  ENETUNREACH: 'The host cannot be reached',
  ETIMEDOUT: 'The connection took too long',
  UND_ERR_CONNECT_TIMEOUT: 'The connection took too long',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too large',
  CERT_HAS_EXPIRED: 'The TLS certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The TLS certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'The TLS certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The TLS certificate cannot be verified: an intermediate certificate is missing',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The TLS certificate cannot be verified',
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'HTTPParserError') return 'HPE'
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Why no answer came, for people. */
export function reasonOf(error: unknown): string {
  // Several addresses were tried: the first one's error stands for all.
  const first = error instanceof AggregateError ? (error.errors[0] ?? error) : error
  const code = codeOf(first) ?? codeOf(error)
  if (code === undefined) return 'The connection failed'
  if (code.startsWith('HPE')) return 'The answer is not HTTP'
  if (code.startsWith('ERR_SSL') || code === 'EPROTO') return 'The TLS handshake failed'
  return REASONS[code] ?? `The connection failed (${code})`
}

/** Why an answer is a failure, for people; undefined for a 2xx. */
export function statusProblem(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status >= 300 && status < 400) return `Answered ${status}: redirects are not followed`
  return `Answered ${status}`
}
