import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { CookieOptions } from 'express'
import { seal, unseal } from '../../core/envelope.ts'
import type { Runtime } from '../../core/process.ts'

/** Browsers keep 4,096 bytes of one cookie, its name and attributes included. */
const LONGEST_COOKIE = 3_800

/** A cookie that only this service can read and write: what a page keeps in the browser that opened its link. */
export interface SealedCookie<T> {
  /** The cookie's value; null where `content` is more than a cookie can hold. */
  seal(content: T, runtime: Pick<Runtime, 'keyring'>): string | null
  /** What this service sealed, or null for anything else. `header` is the request's `Cookie`. */
  read(header: string | undefined, runtime: Pick<Runtime, 'keyring'>): T | null
  options(runtime: Pick<Runtime, 'config'>): CookieOptions
}

/** `path` bounds where the browser sends it; `page` names the page in the keys, so that no other page's cookie opens as this one's. */
export function sealedCookie<T>({
  name,
  page,
  path,
  lifetimeMs,
}: {
  name: string
  page: string
  path: string
  lifetimeMs: number
}): SealedCookie<T> {
  const context = { owner: page, purpose: `${page}-cookie` }
  return {
    seal: (content, { keyring }) => {
      const sealed = seal(keyring.derive(context.purpose), context, deflateRawSync(JSON.stringify(content)))
      const value = sealed.toString('base64url')
      return value.length <= LONGEST_COOKIE ? value : null
    },
    read: (header, { keyring }) => {
      const value = findCookie(name, header)
      if (!value) return null
      try {
        const opened = unseal(keyring.derive(context.purpose), context, Buffer.from(value, 'base64url'))
        return JSON.parse(inflateRawSync(opened).toString('utf8')) as T
      } catch {
        return null
      }
    },
    options: ({ config }) => ({
      httpOnly: true,
      // A link is opened from elsewhere: `strict` would lose the cookie on the way to the clean address.
      sameSite: 'lax',
      secure: config.BASE_URL.startsWith('https:'),
      path,
      maxAge: lifetimeMs,
      encode: String,
    }),
  }
}

const findCookie = (name: string, header: string | undefined): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)
