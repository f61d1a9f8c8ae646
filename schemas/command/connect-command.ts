import { type Keyring, seal } from '../../core/envelope.ts'
import { type Credential, openCredential, PROFILE_PURPOSE, sealCredential } from '../secrets.ts'
import type { Command, CommandArguments } from './command.ts'
import type { NewCommand } from './commands.ts'

type ConnectArguments = CommandArguments['connect']

/** A usable session and whose it is. */
interface NewConnect
  extends Pick<NewCommand<'connect'>, 'id' | 'appId' | 'by' | 'now'>,
    Pick<
      ConnectArguments,
      'connectionId' | 'userId' | 'userRef' | 'generation' | 'provider' | 'device' | 'emailHash' | 'leaseId' | 'flowId'
    > {
  credential: Credential
  /** What the hosted browser remembers: JSON of Playwright's storage state, without the session. */
  profile?: string
  keyring: Keyring
}

/** The command that makes a connection of a session: sealed with a new data key of the connection's, so that it leaves its process encrypted only. */
export function buildConnectCommand({
  id,
  appId,
  by,
  now,
  credential,
  profile,
  keyring,
  ...args
}: NewConnect): NewCommand<'connect'> {
  const { connectionId } = args
  const { key, wrapped } = keyring.newDataKey()
  return {
    ...(id !== undefined && { id }),
    kind: 'connect',
    appId,
    target: connectionId,
    by,
    now,
    args: {
      ...args,
      capturedAt: now,
      key: wrapped,
      credential: sealCredential({ id: connectionId, key, credential }),
      ...(profile !== undefined && {
        profile: seal(key, { owner: connectionId, purpose: PROFILE_PURPOSE }, profile),
      }),
    },
  }
}

/** What a connect command carries. */
export interface OpenedConnect {
  credential: Credential
  /** The connection's data key. */
  key: Buffer
  /** As they are stored with the connection. */
  sealed: { credential: Buffer; profile: Buffer | undefined }
}

/** Throws when its master key is not configured, or when it has ended: its secrets are gone then. */
export function openConnectCommand(
  { args }: Pick<Command<'connect'>, 'args'>,
  { keyring }: { keyring: Keyring },
): OpenedConnect {
  const key = keyring.unwrap(args.key)
  const sealed = { credential: bytes(args.credential), profile: args.profile && bytes(args.profile) }
  return { key, sealed, credential: openCredential({ id: args.connectionId, key, sealed: sealed.credential }) }
}

/** Binary values inside the free-form arguments come back as the driver's own type. */
const bytes = (value: Buffer | { buffer: Uint8Array }): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(value.buffer)
