import { randomUUID } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { isHttpUrl } from './http-url.ts'

export type LinkPurpose = 'connect' | 'manage'

export type SignLinkOptions = {
  appId: string
  /** Its UTF-8 bytes are the HMAC key; at least 32 bytes. */
  appSecret: string
  /** Your own name of the end user; never interpreted by the service. */
  userRef: string
  /** `connect` (default) opens the connect flow, `manage` the page where the user sees and deletes the data. */
  purpose?: LinkPurpose
  /** Default `['conversations:read']`. */
  scopes?: readonly string[]
  /** Base address of the environment, for example `https://connect.example.com`. */
  baseUrl: string
  /** Which provider to connect where several are configured; default is the first. */
  provider?: string
  /** Where the hosted page goes after success; https, or loopback in the sandbox. */
  redirectUrl?: string
  /** The language of the hosted page, as a tag such as `de`; default is the visitor's own. */
  locale?: string
  /** 1 to 900, default 900. */
  lifetimeSeconds?: number
  /** The present moment, in milliseconds or as a Date; default is the system's clock. */
  now?: number | Date
}

export type SignedLink = {
  /** Send the user here. Works once. */
  url: string
  token: string
  /** Identifies the link; a spent one stays spent. */
  jti: string
  expiresAt: Date
}

const MAX_LIFETIME_SECONDS = 900
const MIN_SECRET_BYTES = 32
const pages: Record<LinkPurpose, string> = { connect: 'start', manage: 'manage' }

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new TypeError(`signLink: ${message}`)
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0

function checkOptions(options: SignLinkOptions, purpose: string, scopes: readonly string[], lifetimeSeconds: number) {
  check(isText(options.appId), 'appId must be a non-empty string')
  check(isText(options.userRef), 'userRef must be a non-empty string')
  check(
    typeof options.appSecret === 'string' && Buffer.byteLength(options.appSecret) >= MIN_SECRET_BYTES,
    `appSecret must have at least ${MIN_SECRET_BYTES} bytes`,
  )
  check(Object.hasOwn(pages, purpose), "purpose must be 'connect' or 'manage'")
  check(Array.isArray(scopes) && scopes.every(isText), 'scopes must be an array of non-empty strings')
  check(isHttpUrl(options.baseUrl), 'baseUrl must be an http or https address')
  check(options.provider === undefined || isText(options.provider), 'provider must be a non-empty string')
  check(options.locale === undefined || isText(options.locale), 'locale must be a non-empty string')
  check(options.redirectUrl === undefined || isHttpUrl(options.redirectUrl), 'redirectUrl must be an absolute address')
  check(
    Number.isInteger(lifetimeSeconds) && lifetimeSeconds >= 1 && lifetimeSeconds <= MAX_LIFETIME_SECONDS,
    `lifetimeSeconds must be an integer from 1 to ${MAX_LIFETIME_SECONDS}`,
  )
}

/**
 * Signs a link for one user: an HS256 JWT of the claims `appId`, `userRef`, `scopes`, `purpose`, `jti`, `iat`, `exp` and,
 * where given, `provider`, `redirectUrl` and `locale`. Call it on your server only, at the moment when the user is sent there.
 *
 * @throws TypeError when an option is missing or out of bounds; the message names it and never holds the secret.
 */
export function signLink(options: SignLinkOptions): SignedLink {
  const { purpose = 'connect', scopes = ['conversations:read'], lifetimeSeconds = MAX_LIFETIME_SECONDS } = options
  checkOptions(options, purpose, scopes, lifetimeSeconds)

  const now = Number(options.now ?? Date.now())
  check(Number.isFinite(now), 'now must be a moment in milliseconds or a valid Date')
  const iat = Math.floor(now / 1000)
  const exp = iat + lifetimeSeconds
  const jti = randomUUID()
  const { appId, userRef, provider, redirectUrl, locale } = options
  const claims = {
    appId,
    userRef,
    scopes,
    purpose,
    jti,
    iat,
    exp,
    ...(provider === undefined ? {} : { provider }),
    ...(redirectUrl === undefined ? {} : { redirectUrl }),
    ...(locale === undefined ? {} : { locale }),
  }
  const token = jwt.sign(claims, options.appSecret, { algorithm: 'HS256' })
  const url = `${options.baseUrl.replace(/\/+$/, '')}/${pages[purpose]}?token=${token}`
  return { url, token, jti, expiresAt: new Date(exp * 1000) }
}
