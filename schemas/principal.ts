import { embedded } from './embedded.ts'

/** Who asked: part of the audit trail, and kept as `by` in commands and audit entries. */
export interface Principal {
  kind: 'api-key' | 'app-secret' | 'member' | 'link' | 'operator' | 'capture' | 'service'
  /** Id of the key, e-mail of the member, id of the link or of the process; never a secret. */
  id: string
  /** The network address that a member asked from. */
  from?: string
}

export const principalField = { type: embedded({ kind: String, id: String, from: String }), required: true } as const
