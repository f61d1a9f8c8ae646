import { createProviderClient, type ProviderClient } from '../../provider/client.ts'
import { SessionEndedError } from '../../provider/errors.ts'
import type { ProviderProfile } from '../../provider/profile.ts'
import type { Account } from '../../schemas/connection/account.ts'
import { type Credential, openCredential, sealCredential } from '../../schemas/secrets.ts'
import { writeHeld } from '../connection/claimed.ts'
import type { Keyed } from '../connection/keys.ts'
import type { ActorRuntime } from '../runtime.ts'
import { createPace, paceIdOf } from './pace.ts'

/** Thrown instead of sending another request once something (`cause`) has ended the reading. */
export class ReadingHalted extends Error {}

/** The provider, as one sync asks it. */
interface AccountClient {
  client: ProviderClient
  /** Throws `SessionEndedError` where the session is not usable, or is another account's by now. */
  verifySession(): Promise<void>
  /** Something has ended the reading: no further request is sent. */
  halt(error: unknown): void
}

/** Asks with the connection's credential, which is stored anew when the provider changes it, at the account's rate. */
export function createAccountClient({
  connection,
  account,
  profile,
  runtime,
  signal,
}: {
  /** As held by this actor. */
  connection: Keyed
  account: Account
  profile: ProviderProfile
  runtime: ActorRuntime
  signal: AbortSignal
}): AccountClient {
  const credential = credentialOf(connection, runtime)
  const accountKnown = credential.account?.id
  let halted: { error: unknown } | undefined
  const pace = createPace({
    paceId: paceIdOf({ ...runtime, provider: profile.id, providerAccountId: accountKnown ?? account._id }),
    requestsPerMinute: profile.requestsPerMinute,
    clock: runtime.clock,
    signal,
  })
  const client = createProviderClient({
    profile,
    credential,
    clock: runtime.clock,
    signal,
    pace: async () => {
      await pace()
      if (halted) throw new ReadingHalted('the reading has ended', { cause: halted.error })
    },
    onRotate: (next) => storeCredential(connection, next, runtime),
  })
  return {
    client,
    verifySession: async () => {
      const session = await client.session()
      if (!session.usable) throw new SessionEndedError(session.reason)
      if (accountKnown !== undefined && session.account.id !== accountKnown)
        throw new SessionEndedError('the session belongs to another account by now')
    },
    halt: (error) => {
      halted ??= { error }
    },
  }
}

const credentialOf = (connection: Keyed, { keyring }: ActorRuntime): Credential =>
  openCredential({
    id: connection._id,
    key: keyring.unwrap(connection.key),
    sealed: connection.credential ?? Buffer.alloc(0),
  })

async function storeCredential(
  connection: Keyed,
  next: ReturnType<ProviderClient['credential']>,
  runtime: ActorRuntime,
): Promise<void> {
  const key = runtime.keyring.unwrap(connection.key)
  const credential = { ...credentialOf(connection, runtime), ...next }
  await writeHeld(connection, { $set: { credential: sealCredential({ id: connection._id, key, credential }) } })
}
