import { embedded } from './embedded.ts'

/** Who asked: part of the audit trail, and kept as `by` in commands and audit entries. */
export interface Principal {
  kind: 'api-key' | 'app-secret' | 'member' | 'link' | 'operator' | 'capture' | 'service'
  /** Id of the key, the member, the link or the process; never a secret. */
  id: string
}

export const principalField = { type: embedded({ kind: String, id: String }), required: true } as const
