import { randomBytes } from 'node:crypto'
import { KEY_BYTES, type Keyring, unwrapKey, wrapKey } from '../../core/envelope.ts'
import type { Connection } from '../../schemas/connection/connection.ts'

/** A connection that still has its key; a revoked one has none. */
export type Keyed = Connection & Required<Pick<Connection, 'key'>>

export const isKeyed = (connection: Connection): connection is Keyed => connection.key !== undefined

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
