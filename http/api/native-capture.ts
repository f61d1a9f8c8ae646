import { SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { isUuid, sameSecret, sha256 } from '../../core/ids.ts'
import { type Credential, createProviderClient } from '../../provider/client.ts'
import { ProviderContractError, ProviderRateLimitedError, ProviderUnavailableError } from '../../provider/errors.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import { Commands } from '../../schemas/command/command.ts'
import { awaitCommand, writeCommand } from '../../schemas/command/commands.ts'
import { buildConnectCommand } from '../../schemas/command/connect-command.ts'
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
 * The session that a native app captured (docs/behaviour.md, POST /api/connect-native): `waiting` until the provider itself calls it usable,
 * `connected` exactly once. Whose it is, the provider says. Throws `ServiceError` `invalid_capture`, `invalid_parameter` where the caller names
 * another account, or `account_held`, which spends the credential.
 */
export async function capture(
  body: Record<string, unknown>,
  { runtime, signal }: Options,
): Promise<NativeCaptureAnswer> {
  const { clock } = runtime
  const given = parseInput(nativeCaptureBody, body, { missing: MISSING })
  const { _id: id } = await inTime(findOpen(given, runtime), runtime)
  if (given.accessToken === undefined) return waiting('There is no access token yet')
  const taken = await inTime(takeCapture({ id, now: clock.now() }), runtime)
  if (!taken) {
    await inTime(findOpen(given, runtime), runtime)
    return waiting('An earlier request is being worked on')
  }
  try {
    const unusable = await beginConnect(given, taken, runtime)
    if (unusable) return waiting(unusable.reason)
    const { commandId, connectionId } = idsOfCapture(id)
    const command = await awaitCommand<'connect'>({ id: commandId, clock, timeoutMs: WAIT_MS, signal })
    if (!command) return waiting('The connection is being created')
    await spendCapture({ id, now: clock.now() })
    // A deletion spent the credential meanwhile, as it does before anything of a flow has come.
    if (command.failure?.code === 'flow_ended') throw new ServiceError('invalid_capture')
    resultOf(command)
    return { status: 'connected', connectionId }
  } finally {
    // Where it is not spent the caller may ask again; one that cannot be returned now is taken up in a minute.
    await returnCapture({ id }).catch(() => undefined)
  }
}

const waiting = (reason: string): NativeCaptureAnswer => ({ status: 'waiting', reason })

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

/**
 * Has the connection created through the same command as the hosted page; returns why not, where the session is not usable. Goes on when the
 * caller leaves: the provider may have changed the session's cookie, which nobody else knows.
 */
async function beginConnect(
  given: NativeCaptureBody,
  { _id: captureNonce, appId, userId, userRef, generation, provider, device, endDueAt }: Capture,
  runtime: HttpRuntime,
): Promise<{ reason: string } | null> {
  const { clock, keyring } = runtime
  const { connectionId, commandId } = idsOfCapture(captureNonce)
  // An earlier request came so far: what it was given may have been replaced by the provider since.
  if (await inTime(Commands.exists({ _id: commandId }).exec(), runtime)) return null
  const app = await inTime(Apps.findById(appId).lean<App>().exec(), runtime)
  if (!app) throw new ServiceError('app_not_found')
  const found = await askProvider(given, { provider, runtime })
  if ('reason' in found) return found
  const { id, email = given.providerAccountEmail } = found.account
  if (given.providerAccountId !== undefined && given.providerAccountId !== id)
    throw new ServiceError('invalid_parameter', {
      name: 'providerAccountId',
      reason: 'the session is of another account',
    })
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
      credential: { ...found.credential, account: { id } },
      ...(email !== undefined && { emailHash: emailHashOf({ app, email, runtime }) }),
      ...(device && { device }),
      ...(endDueAt && { flowId: captureNonce }),
      keyring,
      now: clock.now(),
    }),
  )
  await inTime(writing, runtime)
  return null
}

/** What the session itself says, with the newest cookie; or why it is not usable. */
async function askProvider(
  { sessionToken: cookie, accessToken }: NativeCaptureBody,
  { provider, runtime }: { provider: string; runtime: HttpRuntime },
): Promise<{ credential: Credential; account: { id: string; email?: string } } | { reason: string }> {
  const { clock, profiles } = runtime
  const abort = new AbortController()
  const timer = clock.timer(SESSION_MS, () => abort.abort(new ProviderUnavailableError('it takes too long')))
  const client = createProviderClient({
    profile: findProfile(profiles, provider),
    credential: { cookie, ...(accessToken !== undefined && { accessToken }) },
    clock,
    signal: abort.signal,
  })
  try {
    const session = await client.session()
    return session.usable ? { credential: client.credential(), account: session.account } : { reason: session.reason }
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
