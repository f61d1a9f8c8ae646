/**
 * Every error that a caller may see: code, status and message in one table (docs/behaviour.md, Errors; the strings are stable).
 * The thrower gives the values of a message's `{names}`.
 */
export const ERRORS = {
  missing_user_ref: [400, 'Missing userRef parameter'],
  missing_connection_id: [400, 'Missing connectionId parameter'],
  invalid_parameter: [400, 'Invalid {name} parameter: {reason}'],
  invalid_json: [400, 'Invalid JSON body'],
  missing_token: [400, 'Missing token'],
  malformed_token: [400, 'Malformed token'],
  wrong_purpose: [400, "Token purpose must be '{purpose}'"],
  missing_capture_nonce: [400, 'Missing captureNonce'],
  missing_client_secret: [400, 'Missing clientSecret'],
  missing_session_token: [400, 'Missing sessionToken'],
  unknown_action: [400, 'Unknown action'],
  unknown_provider: [400, 'Unknown provider'],
  missing_app_id: [400, 'Missing appId'],
  missing_purge_target: [400, 'Missing userRef or connectionId'],
  two_purge_targets: [400, 'Only one of userRef and connectionId is allowed'],
  no_export: [400, 'Not a provider export: {reason}'],
  missing_authorization: [401, 'Missing Authorization header'],
  invalid_api_key: [401, 'Invalid API key'],
  invalid_operator_key: [401, 'Invalid operator key'],
  invalid_token: [401, 'Invalid token: {reason}'],
  link_used: [403, 'This link has already been used'],
  invalid_capture: [403, 'Invalid or expired capture nonce'],
  forbidden_scope: [403, 'Forbidden scope: {scope}'],
  stale_form: [403, 'The form is not of this page as it is now'],
  other_app: [403, 'appId does not match the API key'],
  other_account: [403, 'The export is of another provider account'],
  operator_role: [403, 'This operator key may not do that'],
  forbidden_role: [403, 'Your role does not allow this'],
  sign_in_used: [403, 'The sign-in link was used or has expired'],
  portal_needs_https: [403, 'The portal needs https'],
  user_not_found: [404, 'User not found'],
  connection_not_found: [404, 'Connection not found'],
  app_not_found: [404, 'App not found'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Method not allowed'],
  flow_ended: [409, 'The data of this user was deleted meanwhile. A new link is needed.'],
  connection_revoked: [409, 'Connection is revoked'],
  account_held: [
    409,
    'This provider account is already connected to another user of this app. A new link is needed to connect a different account.',
  ],
  already_member: [409, 'This address is a member already'],
  already_invited: [409, 'This address is invited already'],
  team_full: [409, 'The team has no more room'],
  too_many_keys: [409, 'The app has no room for another API key'],
  rotated_before: [409, 'The secret was rotated meanwhile'],
  last_owner: [409, 'An app always keeps at least one owner'],
  app_exists: [409, 'App already exists'],
  body_too_large: [413, 'Request body is larger than {limit}'],
  unsupported_media_type: [415, 'Unsupported content type'],
  rate_limited: [429, 'Rate limit exceeded'],
  internal: [500, 'Internal server error'],
  busy: [503, 'The service is busy; try again shortly'],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type ErrorCode = keyof typeof ERRORS

export type ErrorValues = Readonly<Record<string, string>>

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code)

/** An error with a place in the table. It carries no text: that is made of `code` and `values` where somebody is told (`errorText`). */
export class ServiceError extends Error {
  override name = 'ServiceError'
  readonly code: ErrorCode
  /** What fills the `{names}` of the code's message. */
  readonly values: ErrorValues
  readonly status: number
  constructor(code: ErrorCode, values: ErrorValues = {}) {
    super(code)
    this.code = code
    this.values = values
    this.status = ERRORS[code][0]
  }
}

const NAME = /\{(\w+)\}/g

/** The text of an error as callers are told it. */
export const errorText = ({ code, values = {} }: { code: ErrorCode; values?: ErrorValues }): string =>
  ERRORS[code][1].replace(NAME, (_, name: string) => values[name] ?? '')
