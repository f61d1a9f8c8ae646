import { HOUR, SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { newId, newSecret } from '../../core/ids.ts'
import { createCapture } from '../../schemas/user/capture.ts'
import { noteFlowWritten } from '../../schemas/user/consumed-link.ts'
import { generationOf } from '../../schemas/user/user.ts'
import { type NativeStartAnswer, nativeStartBody } from '../../wire/connect-native.ts'
import { readLink } from '../access/links.ts'
import { beginFlow } from '../actions/begin-flow.ts'
import { goneSignal } from '../kit/abort-signal.ts'
import { inTime } from '../kit/deadline.ts'
import { parseInput } from '../kit/input.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import type { ApiHandler } from './handler.ts'
import { capture } from './native-capture.ts'

/** docs/behaviour.md, Limits: the capture credential. */
const CAPTURE_MS = HOUR

/** POST /api/connect-native: `start` is authenticated by the link, `capture` by the capture credential. */
export function postConnectNative(runtime: HttpRuntime): ApiHandler<'connectNative'> {
  return async ({ request, response }) => {
    const body: Record<string, unknown> = withoutEmpty(request.body)
    if (body['action'] === 'start') return inTime(start(body, runtime), runtime)
    if (body['action'] === 'capture') return capture(body, { runtime, signal: goneSignal(response) })
    throw new ServiceError('unknown_action')
  }
}

/** Clients in many languages write an absent field as null. */
const withoutEmpty = (body: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ''))

async function start(body: Record<string, unknown>, runtime: HttpRuntime): Promise<NativeStartAnswer> {
  const { clock } = runtime
  const { app, claims } = await readLink({ token: body['token'], purpose: 'connect', runtime })
  const { device } = parseInput(nativeStartBody, body)
  const captureNonce = newId()
  const clientSecret = newSecret()
  const { user, profile, linkId, tellsEnd } = await beginFlow({
    app,
    claims,
    flowId: captureNonce,
    kind: 'capture',
    runtime,
  })
  await createCapture({
    _id: captureNonce,
    appId: app._id,
    userId: user._id,
    userRef: user.userRef,
    generation: generationOf(user),
    provider: profile.id,
    clientSecret,
    ...(device && { device: definedOnly(device) }),
    lifetimeMs: CAPTURE_MS,
    tellsEnd,
    clock,
  })
  if (tellsEnd) await noteFlowWritten({ linkId, now: clock.now() })
  return {
    captureNonce,
    clientSecret,
    provider: profile.id,
    loginUrl: profile.loginUrl,
    cookieDomain: profile.cookieDomain,
    cookieName: profile.cookieName,
    sessionUrl: profile.sessionUrl,
    expiresInSeconds: CAPTURE_MS / SECOND,
  }
}

const definedOnly = (fields: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
