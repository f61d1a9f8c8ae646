import { SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { isUuid, sameSecret, sha256 } from '../../core/ids.ts'
import { createProviderClient } from '../../provider/client.ts'
import { ProviderContractError, ProviderRateLimitedError, ProviderUnavailableError } from '../../provider/errors.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import { awaitCommand, writeCommand } from '../../schemas/command/commands.ts'
import { buildConnectCommand } from '../../schemas/command/connect-command.ts'
import type { Credential } from '../../schemas/secrets.ts'
import {
  type Capture,
  Captures,
  idsOfCapture,
  returnCapture,
  spendCapture,
  takeCapture,
} from '../../schemas/user/capture.ts'
import { emailHashOf } from '../../schemas/user/email-hash.ts'
import { type NativeCaptureAnswer, type NativeCaptureBody, nativeCaptureBody } from '../../wire/connect-native.ts'
import { findProfile } from '../actions/begin-flow.ts'
import { resultOf } from '../actions/command-result.ts'
import { inTime } from '../kit/deadline.ts'
import { parseInput } from '../kit/input.ts'
import type { HttpRuntime } from '../kit/runtime.ts'

/** How long the provider may take to say whose session it is (machine time). */
const SESSION_MS = 10 * SECOND
/** How long the caller is kept waiting for its connection. */
const WAIT_MS = 25 * SECOND

const MISSING = {
  captureNonce: 'missing_capture_nonce',
  clientSecret: 'missing_client_secret',
  sessionToken: 'missing_session_token',
} as const

interface Options {
  runtime: HttpRuntime
  signal: AbortSignal
}

/**
 * The session that a native app captured (docs/behaviour.md, POST /api/connect-native): `waiting` while its login is incomplete, `connected`
 * exactly once. Throws `ServiceError` `invalid_capture`, or `account_held`, which spends the credential.
 */
export async function capture(
  body: Record<string, unknown>,
  { runtime, signal }: Options,
): Promise<NativeCaptureAnswer> {
  const given = parseInput(nativeCaptureBody, body, { missing: MISSING })
  const open = await inTime(findOpen(given, runtime), runtime)
  if (given.accessToken === undefined) return { status: 'waiting', reason: 'There is no access token yet' }
  const found = await findCredential(given, open, { runtime, signal })
  if ('reason' in found) return { status: 'waiting', reason: found.reason }
  const now = runtime.clock.now()
  const taken = await inTime(takeCapture({ id: open._id, now }), runtime)
  if (!taken) throw new ServiceError('invalid_capture')
  return connect(taken, found, { runtime, signal })
}

/** Unknown, spent, expired and a wrong secret are one answer. */
async function findOpen(
  { captureNonce, clientSecret }: NativeCaptureBody,
  { clock }: Pick<HttpRuntime, 'clock'>,
): Promise<Capture> {
  const found = isUuid(captureNonce) ? await Captures.findById(captureNonce.toLowerCase()).lean<Capture>() : null
  const matches = sameSecret(sha256(clientSecret), found?.secretDigest ?? '')
  if (!found || !matches || found.spentAt || found.expiresAt <= clock.now()) throw new ServiceError('invalid_capture')
  return found
}

interface Found {
  credential: Credential
  email: string | undefined
}

/** The credential with its account: what the app said of it, else what the session itself says. */
async function findCredential(
  given: NativeCaptureBody,
  { provider }: Capture,
  { runtime, signal }: Options,
): Promise<Found | { reason: string }> {
  const { sessionToken: cookie, accessToken, providerAccountId: id, providerAccountEmail: email } = given
  const token = accessToken === undefined ? {} : { accessToken }
  if (id !== undefined) return { credential: { cookie, ...token, account: { id } }, email }
  const abort = new AbortController()
  const timer = runtime.clock.timer(SESSION_MS, () => abort.abort(new ProviderUnavailableError('it takes too long')))
  const client = createProviderClient({
    profile: findProfile(runtime.profiles, provider),
    credential: { cookie, ...token },
    clock: runtime.clock,
    signal: AbortSignal.any([signal, abort.signal]),
  })
  try {
    const session = await client.session()
    if (!session.usable) return { reason: session.reason }
    const { account } = session
    return { credential: { ...client.credential(), account: { id: account.id } }, email: email ?? account.email }
  } catch (error) {
    if (!isProviderTrouble(error)) throw error
    return { reason: 'The provider cannot be asked about the session just now' }
  } finally {
    timer.cancel()
  }
}

const isProviderTrouble = (error: unknown): boolean =>
  error instanceof ProviderUnavailableError ||
  error instanceof ProviderRateLimitedError ||
  error instanceof ProviderContractError

/** Creates the connection through the same command as the hosted page. */
async function connect(taken: Capture, { credential, email }: Found, { runtime, signal }: Options) {
  const { clock, keyring } = runtime
  const { _id: captureNonce, appId, userId, userRef, generation, provider, device } = taken
  const { connectionId, commandId } = idsOfCapture(captureNonce)
  const app = await inTime(Apps.findById(appId).lean<App>().exec(), runtime)
  if (!app) throw new ServiceError('app_not_found')
  const writing = writeCommand(
    buildConnectCommand({
      id: commandId,
      connectionId,
      appId,
      by: { kind: 'capture', id: captureNonce },
      userId,
      userRef,
      generation,
      provider,
      credential,
      ...(email !== undefined && { emailHash: emailHashOf({ app, email, runtime }) }),
      ...(device && { device }),
      keyring,
      now: clock.now(),
    }),
  )
  const command = await inTime(writing, runtime)
    .then((id) => awaitCommand<'connect'>({ id, clock, timeoutMs: WAIT_MS, signal }))
    .catch(async (error: unknown) => {
      // The caller was told nothing, so it may ask again: the command has the same id then.
      await returnCapture({ id: captureNonce })
      throw error
    })
  if (!command) {
    await returnCapture({ id: captureNonce })
    return { status: 'waiting', reason: 'The connection is being created' } as const
  }
  await spendCapture({ id: captureNonce, now: clock.now() })
  // A deletion spent the credential meanwhile, as it does before anything of a flow has come.
  if (command.failure?.code === 'flow_ended') throw new ServiceError('invalid_capture')
  return { status: 'connected', connectionId: resultOf(command).connectionId } as const
}
