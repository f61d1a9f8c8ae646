import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Envelope encryption (docs/security.md, Secrets and tokens; docs/architecture.md, idea 7): a random data key per connection or app, wrapped under a master key
 * that is not in the database (RFC 3394), encrypts with AES-256-GCM. Destroying the wrapped key is the deletion.
 */
export interface WrappedKey {
  masterKeyId: string
  bytes: Buffer
}

/** What a ciphertext is bound to: it opens only for the same owner and purpose (docs/security.md, Secrets and tokens). */
interface SealContext {
  /** Id of what owns the key: a connection, an archive (which a fold hands on to another connection), an app. */
  owner: string
  purpose: string
}

export interface Keyring {
  /** Id of the master key that wraps new data keys. */
  currentId: string
  /** Whether this is the id of one of the configured master keys. */
  knows(masterKeyId: string): boolean
  newDataKey(): { key: Buffer; wrapped: WrappedKey }
  /** Throws when the master key is not among the configured ones. */
  unwrap(wrapped: WrappedKey): Buffer
  /** A 32-byte key for one purpose, derived from the current master key (HKDF-SHA256): what is written is written under it. */
  derive(purpose: string): Buffer
  /** The same of every configured master key, the current one first: what may have been written before a rotation opens under one of them. */
  deriveAll(purpose: string): Buffer[]
}

export const KEY_BYTES = 32
const VERSION = 1
const IV_BYTES = 12
const TAG_BYTES = 16
const WRAP_ALGORITHM = 'id-aes256-wrap'
const WRAP_IV = Buffer.alloc(8, 0xa6)

const masterKeyId = (key: Buffer): string =>
  createHash('sha256').update('master-key-id').update(key).digest('hex').slice(0, 16)

/** Wraps a key under another one (RFC 3394). */
export function wrapKey(wrapping: Buffer, key: Buffer): Buffer {
  const cipher = createCipheriv(WRAP_ALGORITHM, wrapping, WRAP_IV)
  return Buffer.concat([cipher.update(key), cipher.final()])
}

/** Throws when the wrapping key is not the right one. */
export function unwrapKey(wrapping: Buffer, wrapped: Buffer): Buffer {
  const decipher = createDecipheriv(WRAP_ALGORITHM, wrapping, WRAP_IV)
  return Buffer.concat([decipher.update(wrapped), decipher.final()])
}

/** `keys`: master keys, the current one first; the others only open what they once wrapped. */
export function createKeyring(keys: [Buffer, ...Buffer[]]): Keyring {
  const byId = new Map(keys.map((key) => [masterKeyId(key), key]))
  const [current] = keys
  const currentId = masterKeyId(current)
  return {
    currentId,
    knows: (id) => byId.has(id),
    newDataKey: () => {
      const key = randomBytes(KEY_BYTES)
      return { key, wrapped: { masterKeyId: currentId, bytes: wrapKey(current, key) } }
    },
    unwrap: ({ masterKeyId: id, bytes }) => {
      const master = byId.get(id)
      if (!master) throw new Error(`master key ${id} is not configured`)
      return unwrapKey(master, Buffer.from(bytes))
    },
    derive: (purpose) => deriveKey(current, purpose),
    deriveAll: (purpose) => keys.map((key) => deriveKey(key, purpose)),
  }
}

/** A key for one purpose from another key (HKDF-SHA256, 32 bytes). */
export function deriveKey(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, 'ccs', purpose, KEY_BYTES))
}

/** `owner | purpose | version`. */
export const associatedData = ({ owner, purpose }: SealContext): Buffer => Buffer.from(`${owner}|${purpose}|${VERSION}`)

/** version (1 byte) | IV (12) | tag (16) | ciphertext. */
export function seal(key: Buffer, context: SealContext, plain: Uint8Array | string): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(associatedData(context))
  const bytes = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), bytes])
}

/** Throws when the key, the context or a single bit is not the one that it was sealed with. */
export function unseal(key: Buffer, context: SealContext, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed)
  if (bytes[0] !== VERSION || bytes.length < 1 + IV_BYTES + TAG_BYTES) throw new Error('unknown ciphertext version')
  const iv = bytes.subarray(1, 1 + IV_BYTES)
  const tag = bytes.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(associatedData(context)).setAuthTag(tag)
  return Buffer.concat([decipher.update(bytes.subarray(1 + IV_BYTES + TAG_BYTES)), decipher.final()])
}
