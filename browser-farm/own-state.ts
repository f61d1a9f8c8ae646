import { parseUrl } from '../core/parse-url.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import type { BrowserState } from './open-context.ts'

/**
 * What a browser remembers of the provider itself, without the session: that is the credential and lies nowhere else. What identity
 * providers and others of the profile's hosts left in it is the visitor's own, and not kept.
 */
export function ownState({ cookies, origins }: BrowserState, profile: ProviderProfile): BrowserState {
  const { cookieDomain, cookieName, loginUrl, sessionUrl, apiBaseUrl } = profile
  const own = [cookieDomain, ...[loginUrl, sessionUrl, apiBaseUrl].map((address) => new URL(address).hostname)]
  const isOwn = (host: string): boolean => own.some((each) => host === each || host.endsWith(`.${each}`))
  return {
    cookies: cookies.filter(({ name, domain }) => {
      const host = domain.replace(/^\./, '')
      const isSession = name === cookieName || name.startsWith(`${cookieName}.`)
      // RFC 6265, 5.1.3: a cookie of a domain above one's own comes to oneself too.
      return !isSession && (isOwn(host) || own.some((each) => each.endsWith(`.${host}`)))
    }),
    origins: origins.filter(({ origin }) => isOwn(parseUrl(origin)?.hostname ?? '')),
  }
}
