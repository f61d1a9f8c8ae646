/** What an e-mail address makes the sandbox provider do (docs/behaviour.md, Sandbox provider). */
type AccountKind =
  | 'ada'
  | 'grace'
  | 'verify'
  | 'branches'
  | 'big'
  | 'huge'
  | 'chunked'
  | 'limited'
  | 'expires'
  | 'refuses'
  | 'popup'
  | 'slow'
  | 'empty'
  | 'bulk'
  | 'other'

export interface SandboxAccount {
  email: string
  /** The provider's account id: `user-<name>`. */
  id: string
  name: string
  kind: AccountKind
  /** How many conversations the account has before anything is changed through `/__control`. */
  conversations: number
}

/** Conversations of each kind of account; `ada` and `branches` are written by hand, the others are generated. */
const CONVERSATIONS: Record<Exclude<AccountKind, 'bulk'>, number> = {
  ada: 12,
  grace: 3,
  verify: 4,
  branches: 4,
  big: 400,
  huge: 20_000,
  chunked: 30,
  limited: 25,
  expires: 5,
  refuses: 2,
  popup: 2,
  slow: 2,
  empty: 0,
  other: 2,
}
const MOST_BULK_CONVERSATIONS = 1_000_000

/**
 * The account of an e-mail address, or null for what is no address. `name+anything@…` is another account of the same
 * kind as `name@…`; `bulk-<n>@…` has n conversations; any other address is an account with two.
 */
export function accountOf(address: string): SandboxAccount | null {
  const email = address.trim().toLowerCase()
  const [, local = '', domain = ''] = /^([^\s@<>"]{1,64})@([a-z0-9.-]{1,190})$/.exec(email) ?? []
  if (local === '') return null
  const [first = ''] = local.split('+')
  const bulk = /^bulk-(\d{1,7})$/.exec(first)
  const named =
    first !== 'other' && Object.hasOwn(CONVERSATIONS, first) ? (first as keyof typeof CONVERSATIONS) : 'other'
  const ours = domain === 'example.test'
  return {
    email,
    id: `user-${ours ? local : email}`,
    name: `${first.charAt(0).toUpperCase()}${first.slice(1)}`,
    kind: !ours ? 'other' : bulk ? 'bulk' : named,
    conversations:
      ours && bulk ? Math.min(Number(bulk[1]), MOST_BULK_CONVERSATIONS) : CONVERSATIONS[ours ? named : 'other'],
  }
}
