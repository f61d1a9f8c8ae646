import type { Request, RequestHandler } from 'express'
import type { Config } from '../../core/config.ts'
import { ServiceError } from '../../core/errors.ts'
import { parseUrl } from '../../core/parse-url.ts'

const originOf = ({ BASE_URL }: Pick<Config, 'BASE_URL'>): string => parseUrl(BASE_URL)?.origin ?? ''

/** True where a request names our own origin, and no other, as its own. */
export const isOwnOrigin = (origin: string | undefined, { config }: { config: Config }): boolean =>
  origin === originOf(config)

/**
 * Lets a page's form or script through that a page of ours sent; throws `stale_form` for one of another site. Under `Referrer-Policy:
 * no-referrer` browsers send `Origin: null` with our own forms too, so what is named has to be right, and the secret field of the form
 * (or the flow that the script names) decides.
 */
export function ownOriginOnly({ config }: { config: Config }): RequestHandler {
  return (request, _response, next) => {
    if (!isOwnForm(request, { config })) throw new ServiceError('stale_form')
    next()
  }
}

function isOwnForm(request: Request, { config }: { config: Config }): boolean {
  const origin = request.get('origin') ?? 'null'
  const site = request.get('sec-fetch-site') ?? 'same-origin'
  return (origin === 'null' || isOwnOrigin(origin, { config })) && site === 'same-origin'
}
