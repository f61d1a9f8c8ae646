import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Response } from 'express'
import { seal, unseal } from '../../core/envelope.ts'
import type { Runtime } from '../../core/process.ts'

/** Browsers keep 4,096 bytes of one cookie, its name and attributes included. */
const LONGEST_COOKIE = 3_800

/** A cookie that only this service can read and write: what a page keeps in the browser that opened its link. */
interface SealedCookie<T> {
  /** Gives it to the browser; false where `content` is more than a cookie can hold. */
  give(response: Response, content: T): boolean
  /** What this service sealed, or null for anything else. `header` is the request's `Cookie`. */
  read(header: string | undefined): T | null
}

/**
 * `page` names the page in the keys, so that no other page's cookie opens as this one's. Under https the name carries `__Host-` (RFC
 * 6265bis, 4.1.3.2): no other host, not a sibling of ours either, can plant one, and the price is `Path=/`. Over plain http, on a
 * developer's machine, the cookie goes to `path` only.
 */
export function sealedCookie<T>({
  name: plainName,
  page,
  path,
  lifetimeMs,
  runtime: { config, keyring },
}: {
  name: string
  page: string
  path: string
  lifetimeMs: number
  runtime: Pick<Runtime, 'config' | 'keyring'>
}): SealedCookie<T> {
  const context = { owner: page, purpose: `${page}-cookie` }
  const secure = config.BASE_URL.startsWith('https:')
  const name = secure ? `__Host-${plainName}` : plainName
  return {
    give: (response, content) => {
      const sealed = seal(keyring.derive(context.purpose), context, deflateRawSync(JSON.stringify(content)))
      const value = sealed.toString('base64url')
      if (value.length > LONGEST_COOKIE) return false
      response.cookie(name, value, {
        httpOnly: true,
        // A link is opened from elsewhere: `strict` would lose the cookie on the way to the clean address.
        sameSite: 'lax',
        secure,
        path: secure ? '/' : path,
        maxAge: lifetimeMs,
        encode: String,
      })
      return true
    },
    read: (header) => {
      const value = findCookie(name, header)
      if (!value) return null
      for (const key of keyring.deriveAll(context.purpose)) {
        try {
          const opened = unseal(key, context, Buffer.from(value, 'base64url'))
          return JSON.parse(inflateRawSync(opened).toString('utf8')) as T
        } catch {
          // Sealed under another master key, or by nobody of ours.
        }
      }
      return null
    },
  }
}

/** The value of a cookie in a request's `Cookie` header. */
export const findCookie = (name: string, header: string | undefined): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)
