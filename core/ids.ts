import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { v4, v5, validate } from 'uuid'

/** Namespace of every derived id of this service (a random UUID, fixed for ever). */
const NAMESPACE = '5d1c6f0e-8a3b-4d57-9a44-0b6c2f7e1a90'

export const newId = (): string => v4()

/** The same parts always give the same UUID (v5): reruns of one piece of work name the same thing. */
export const deriveId = (...parts: string[]): string =>
  v5(parts.map((part) => `${part.length}:${part}`).join('|'), NAMESPACE)

export const isUuid = (value: string): boolean => validate(value)

export const sha256 = (value: string | Uint8Array): string => createHash('sha256').update(value).digest('hex')

/** Compares two strings (digests, tokens) without telling by timing where they differ. */
export function sameSecret(a: string, b: string): boolean {
  const left = createHash('sha256').update(a).digest()
  const right = createHash('sha256').update(b).digest()
  return timingSafeEqual(left, right)
}

/** A secret of 256 random bits, URL-safe. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

const API_KEY_PREFIX = 'ccs_'
/** Another prefix than an API key's, so that nobody takes one for the other. */
const OPERATOR_KEY_PREFIX = 'ccsop_'
const KEY_BYTES = 24
const CHECKSUM_LENGTH = 8

const checksum = (body: string): string => crc32(body).toString(16).padStart(CHECKSUM_LENGTH, '0')

/** Prefix + 192 random bits + CRC32, so that a mistyped key is refused without a database read (docs/security.md, Secrets and tokens). */
function newKey(prefix: string): string {
  const body = randomBytes(KEY_BYTES).toString('hex')
  return `${prefix}${body}${checksum(body)}`
}

function isKey(value: string, prefix: string): boolean {
  const match = /^([0-9a-f]{48})([0-9a-f]{8})$/.exec(value.startsWith(prefix) ? value.slice(prefix.length) : '')
  return match !== null && checksum(match[1] ?? '') === match[2]
}

export const newApiKey = (): string => newKey(API_KEY_PREFIX)
export const isApiKey = (value: string): boolean => isKey(value, API_KEY_PREFIX)
export const newOperatorKey = (): string => newKey(OPERATOR_KEY_PREFIX)
export const isOperatorKey = (value: string): boolean => isKey(value, OPERATOR_KEY_PREFIX)
