import type { ErrorRequestHandler } from 'express'
import { type ErrorCode, errorText, type ServiceError } from '../../../core/errors.ts'
import { readPortalVisit } from '../../access/member.ts'
import { contextOf } from '../../kit/context.ts'
import { asServiceError } from '../../kit/error-answer.ts'
import type { PageContext } from '../../pages/kit/exchange.ts'
import { html } from '../../pages/kit/html.ts'
import { PORTAL_PATH, SIGN_IN_PATH } from '../routes.ts'
import { account, sendPlainPage } from './layout.ts'

interface Words {
  title: string
  message: string
  /** Where to go on; to the portal unless told otherwise. */
  way?: { href: string; label: string }
}

const TO_PORTAL = { href: PORTAL_PATH, label: 'To the portal' }

const WORDS: Partial<Record<ErrorCode, Words>> = {
  not_found: {
    title: 'Not found',
    message: 'There is nothing at this address, or it belongs to an app that you are not a member of.',
  },
  forbidden_role: {
    title: 'Owners only',
    message: 'Your role in this app does not allow this. Ask an owner of the app.',
  },
  stale_form: {
    title: 'Nothing was changed',
    message: 'The form did not come from a page of your present visit. Open the page again and repeat it.',
  },
  portal_needs_https: {
    title: 'https is needed',
    message: 'Without https the portal is open on the machine’s own address only. Set BASE_URL to an https address.',
  },
  busy: {
    title: 'It takes a little longer',
    message: 'What you asked for goes on by itself. Look again in a minute.',
  },
  sign_in_used: {
    title: 'This link does not work any more',
    message: 'A sign-in link works once and for a limited time. Ask for a new one.',
    way: { href: SIGN_IN_PATH, label: 'Ask for a new link' },
  },
}

function wordsOf({ code, values, status }: ServiceError): Words {
  const known = WORDS[code]
  if (known) return known
  if (status >= 500)
    return { title: 'Not available right now', message: 'Something went wrong on our side. Try again in a moment.' }
  return { title: 'That did not work', message: `${errorText({ code, values })}.` }
}

/** The last handler of the portal: errors are for a person, and end with a way on. */
export const problemPage =
  (context: PageContext): ErrorRequestHandler =>
  async (error: unknown, request, response, next) => {
    const problem = asServiceError(error)
    if (response.headersSent || response.closed || problem.code === 'method_not_allowed') return next(error)
    if (problem.status >= 500) contextOf(request).log.error({ err: error }, 'request failed')
    const { title, message, way = TO_PORTAL } = wordsOf(problem)
    const { runtime } = context
    // Where something is wrong on our side, the database may be it.
    const visit = problem.status < 500 ? await readPortalVisit(request, runtime) : null
    const email = visit?.member?.email
    if (response.headersSent || response.closed) return
    sendPlainPage(
      { ...context, response },
      {
        status: problem.status,
        title,
        body: html`<h1>${title}</h1><p role="alert">${message}</p><p><a class="button primary" href="${way.href}">${way.label}</a></p>${visit !== null && email !== undefined && account({ visit, runtime, email })}`,
      },
    )
  }
