import type { ServiceError } from '../../../core/errors.ts'

const AGAIN = 'Return to the app and start again from there.'
const KNOWN: Partial<Record<ServiceError['code'], string>> = {
  link_used: 'This link has already been used.',
  wrong_purpose: 'This link is for something else.',
  missing_token: 'This page opens from a link of the app that you are connecting.',
  unknown_provider: 'The app asked for an assistant that cannot be connected here.',
  forbidden_scope: 'The app asked for something that is not allowed.',
}

/** An error of a link in words for the person who opened it, ending with what to do next. */
export function visitorMessage(error: ServiceError): string {
  if (error.status >= 500) return 'Something went wrong on our side. Please try again in a moment.'
  const expired = error.code === 'invalid_token' && error.values['reason'] === 'expired'
  const problem = KNOWN[error.code] ?? (expired ? 'This link has expired.' : 'This link is not valid.')
  return `${problem} ${AGAIN}`
}
