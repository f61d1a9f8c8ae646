type CcsErrorDetails = {
  status: number
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/** The API refused a call or could not be reached. `message` is the API's own `error` text, which is stable. */
export class CcsError extends Error {
  override readonly name = 'CcsError'
  /** HTTP status; 0 when no answer came. */
  readonly status: number
  /** The answer's `X-Request-Id`: name it when you ask for support. */
  readonly requestId: string | undefined
  /** How long the API asked to wait; only on 429 and 503. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, { status, requestId, retryAfterSeconds, cause }: CcsErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.requestId = requestId
    this.retryAfterSeconds = retryAfterSeconds
  }
}
