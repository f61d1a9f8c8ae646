/** The provider has ended the session: only a new login helps. */
export class SessionEndedError extends Error {
  override name = 'SessionEndedError'
}

/** The provider asked for a pause (429). */
export class ProviderRateLimitedError extends Error {
  override name = 'ProviderRateLimitedError'
  /** How long to wait (ms), where the provider said so. */
  readonly retryAfterMs: number | null

  constructor(message: string, { retryAfterMs }: { retryAfterMs: number | null }) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** The provider does not serve for now (5xx, 403, time limit, network); it says nothing about the session. */
export class ProviderUnavailableError extends Error {
  override name = 'ProviderUnavailableError'
}

/** An answer other than those of docs/provider.md, Session and Conversations; the same request again would most likely give the same. */
export class ProviderContractError extends Error {
  override name = 'ProviderContractError'
}

/** An answer with more bytes than it may have. */
export class AnswerTooLargeError extends ProviderContractError {
  override name = 'AnswerTooLargeError'

  constructor(what: string, maxBytes: number) {
    super(`The provider's ${what} is larger than ${maxBytes} bytes`)
  }
}

/** What was given is no account export, or one beyond the limits. `message` is fit for the person who uploaded it. */
export class ExportError extends Error {
  override name = 'ExportError'
}

/** An account export, or one conversation of it, with more than may be held in memory. */
export class ExportTooLargeError extends ExportError {
  override name = 'ExportTooLargeError'
  /** What it is larger than, in words. */
  readonly limit: string

  constructor(limit: string) {
    super(`it is larger than ${limit}`)
    this.limit = limit
  }
}
