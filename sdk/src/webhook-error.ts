/**
 * Why a webhook was refused.
 *
 * - `missing-signature`: no signature header
 * - `malformed-signature`: the header is not `t=<unix seconds>,v1=<hmac hex>`, or is absurdly long
 * - `truncated-signature`: every `v1` is shorter than a signature is
 * - `unsupported-scheme`: the header holds no `v1`, only schemes that this version does not know
 * - `no-match`: no `v1` belongs to this body, time and secret: something was altered, or the secret is another one
 * - `truncated-body`: no match, and the body is empty or ends in the middle
 * - `not-raw-body`: a parsed object was given, or the text was serialised anew; verify the bytes as they came
 * - `stale`, `future`: rightly signed, but too long ago or ahead of this machine's clock
 * - `invalid-json`, `not-an-event`: rightly signed, but not what this version can read
 * - `too-large`: the body is larger than the handler accepts
 */
export type WebhookVerificationReason =
  | 'missing-signature'
  | 'malformed-signature'
  | 'truncated-signature'
  | 'unsupported-scheme'
  | 'no-match'
  | 'truncated-body'
  | 'not-raw-body'
  | 'stale'
  | 'future'
  | 'invalid-json'
  | 'not-an-event'
  | 'too-large'

/** The webhook is not to be trusted; `reason` says why. Neither the secret nor the body is in the message. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly reason: WebhookVerificationReason

  constructor(reason: WebhookVerificationReason, message: string) {
    super(message)
    this.reason = reason
  }
}
