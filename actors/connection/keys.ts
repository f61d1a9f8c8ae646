import { randomBytes } from 'node:crypto'
import { KEY_BYTES, type Keyring, seal, unseal, unwrapKey, wrapKey } from '../../core/envelope.ts'
import { type Connection, CREDENTIAL_PURPOSE, type Credential } from '../../schemas/connection/connection.ts'

/** A connection that still has its key; a revoked one has none. */
export type Keyed = Connection & Required<Pick<Connection, 'key'>>

export const isKeyed = (connection: Connection): connection is Keyed => connection.key !== undefined

const credentialContext = (id: string) => ({ owner: id, purpose: CREDENTIAL_PURPOSE })

export function sealCredential({ id, key, credential }: { id: string; key: Buffer; credential: Credential }): Buffer {
  return seal(key, credentialContext(id), JSON.stringify(credential))
}

export function openCredential({ id, key, sealed }: { id: string; key: Buffer; sealed: Uint8Array }): Credential {
  return JSON.parse(unseal(key, credentialContext(id), sealed).toString('utf8')) as Credential
}

/** The archive's key: the predecessor's, handed over, or a new one. Wrapped under the new connection's own key. */
export function inheritArchiveKey({
  key,
  predecessor,
  keyring,
}: {
  key: Buffer
  predecessor: Connection | undefined
  keyring: Keyring
}): Buffer {
  const archiveKey =
    predecessor?.archiveKey && isKeyed(predecessor)
      ? openArchiveKey({ connection: predecessor, keyring })
      : randomBytes(KEY_BYTES)
  return wrapKey(key, archiveKey)
}

/** The key that everything of the connection's archive is encrypted with. Throws when the connection has none. */
export function openArchiveKey({ connection, keyring }: { connection: Keyed; keyring: Keyring }): Buffer {
  if (!connection.archiveKey) throw new Error('the connection has no archive key')
  return unwrapKey(keyring.unwrap(connection.key), connection.archiveKey)
}
