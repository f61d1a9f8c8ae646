import type { ErrorRequestHandler, Request } from 'express'
import type { ErrorCode, ServiceError } from '../../../core/errors.ts'
import { contextOf } from '../../kit/context.ts'
import { asServiceError } from '../../kit/error-answer.ts'
import type { Assets } from './assets.ts'
import { html, type Markup } from './html.ts'
import { sendPage } from './layout.ts'

/** What a page says of a problem. */
export interface ProblemWords {
  title: string
  /** Ends with what to do next. */
  message: string
  /** A way on within the page. */
  link?: { href: string; label: string }
}

const AGAIN = 'Return to the app and start again from there.'
const KNOWN: Partial<Record<ErrorCode, string>> = {
  link_used: 'This link has already been used.',
  wrong_purpose: 'This link is for something else.',
  unknown_provider: 'The app asked for an assistant that cannot be connected here.',
  forbidden_scope: 'The app asked for something that is not allowed.',
  stale_form: 'This did not come from the page as it is now.',
}

/** An error of a link in words for the person who opened it, ending with what to do next. */
export function visitorMessage(error: ServiceError): string {
  if (error.status >= 500) return 'Something went wrong on our side. Please try again in a moment.'
  const expired = error.code === 'invalid_token' && error.values['reason'] === 'expired'
  const problem = KNOWN[error.code] ?? (expired ? 'This link has expired.' : 'This link is not valid.')
  return `${problem} ${AGAIN}`
}

/**
 * The last handler of a page's router: errors are for a person, under the app's name and with the way back to it where a link of it was
 * verified. `isScript` says which requests are the page's own script's, which gets the same words as JSON.
 */
export function errorPage({
  assets,
  wordsOf,
  isScript = () => false,
}: {
  assets: Assets
  wordsOf: (problem: ServiceError) => ProblemWords
  isScript?: (request: Request) => boolean
}): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const problem = asServiceError(error)
    if (response.headersSent || response.closed || problem.code === 'method_not_allowed') return next(error)
    if (problem.status >= 500) contextOf(request).log.error({ err: error }, 'request failed')
    const words = wordsOf(problem)
    if (isScript(request)) return void response.status(problem.status).json({ error: words.message })
    const { branding, returnUrl } = contextOf(request)
    const back = branding && returnUrl !== undefined && { href: returnUrl, label: `Return to ${branding.name}` }
    sendPage(response, problem.status, {
      assets,
      branding,
      title: words.title,
      body: problemBody(words, back || undefined),
    })
  }
}

const problemBody = ({ title, message, link }: ProblemWords, back: ProblemWords['link']): Markup =>
  html`<main class="alone"><div class="panel">
<span class="sign" data-sign="failed" aria-hidden="true"></span>
<h1>${title}</h1>
<p role="alert">${message}</p>
${[link, back].map((each) => each && html`<a class="button" href="${each.href}">${each.label}</a>`)}
</div></main>`
