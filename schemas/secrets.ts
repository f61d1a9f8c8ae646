import { seal, unseal } from '../core/envelope.ts'

/** What a connection's `credential` holds, as JSON, before it is sealed. */
export interface Credential {
  /** The session cookie's value, parts concatenated. */
  cookie: string
  accessToken?: string
  account?: { id: string; email?: string }
}

export const CREDENTIAL_PURPOSE = 'credential'
export const PROFILE_PURPOSE = 'browser-profile'
export const ATTACHMENT_PURPOSE = 'attachment'

const credentialContext = (id: string) => ({ owner: id, purpose: CREDENTIAL_PURPOSE })

/** `id`: the connection's; `key`: its data key. */
export function sealCredential({ id, key, credential }: { id: string; key: Buffer; credential: Credential }): Buffer {
  return seal(key, credentialContext(id), JSON.stringify(credential))
}

export function openCredential({ id, key, sealed }: { id: string; key: Buffer; sealed: Uint8Array }): Credential {
  return JSON.parse(unseal(key, credentialContext(id), sealed).toString('utf8')) as Credential
}
