import type { ErrorRequestHandler, Request } from 'express'
import type { ErrorCode, ServiceError } from '../../../core/errors.ts'
import { contextOf } from '../../kit/context.ts'
import { asServiceError } from '../../kit/error-answer.ts'
import type { Assets } from './assets.ts'
import { html, type Markup } from './html.ts'
import { sendPage } from './layout.ts'
import type { Texts } from './texts/en.ts'
import { textsOf } from './texts-of.ts'

/** What a page says of a problem. */
export interface ProblemWords {
  title: string
  /** Ends with what to do next. */
  message: string
  /** A way on within the page. */
  link?: { href: string; label: string }
}

type LinkProblem = Exclude<keyof Texts['links'], 'title' | `${string}Title`>

const KNOWN: Partial<Record<ErrorCode, LinkProblem>> = {
  link_used: 'used',
  wrong_purpose: 'purpose',
  unknown_provider: 'provider',
  forbidden_scope: 'scope',
  stale_form: 'stale',
  missing_token: 'none',
}

function problemOf({ status, code, values }: ServiceError): LinkProblem {
  if (status >= 500) return 'problem'
  const isExpired = code === 'invalid_token' && values['reason'] === 'expired'
  return KNOWN[code] ?? (isExpired ? 'expired' : 'wrong')
}

/** An error of a link in words for the person who opened it, ending with what to do next; under the app's name, where it is known. */
export const visitorMessage = (error: ServiceError, { links }: Texts, app?: string): string =>
  links[problemOf(error)](app)

/** The same in a few words, where what is wrong is the link itself. */
export function visitorTitle(error: ServiceError, { links }: Texts): string {
  const problem = problemOf(error)
  const isOfLink = problem === 'used' || problem === 'expired' || problem === 'wrong'
  return isOfLink ? links[`${problem}Title`] : links.title
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
  wordsOf: (problem: ServiceError, texts: Texts, app?: string) => ProblemWords
  isScript?: (request: Request) => boolean
}): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const problem = asServiceError(error)
    if (response.headersSent || response.closed || problem.code === 'method_not_allowed') return next(error)
    if (problem.status >= 500) contextOf(request).log.error({ err: error }, 'request failed')
    const texts = textsOf(request)
    const { branding, returnUrl } = contextOf(request)
    const words = wordsOf(problem, texts, branding?.name)
    if (isScript(request)) return void response.status(problem.status).json({ error: words.message })
    const back = branding && returnUrl !== undefined && { href: returnUrl, label: texts.returnTo(branding.name) }
    sendPage(response, problem.status, {
      assets,
      texts,
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
