import type { RequestHandler } from 'express'

const YEAR_S = 31_536_000

/** What every answer carries (docs/security.md, Secrets and tokens); a page that needs a wider policy sets its own over it. */
export function securityHeaders({ https }: { https: boolean }): RequestHandler {
  const headers = {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    ...(https ? { 'Strict-Transport-Security': `max-age=${YEAR_S}` } : {}),
  }
  return (_request, response, next) => {
    response.set(headers)
    next()
  }
}
