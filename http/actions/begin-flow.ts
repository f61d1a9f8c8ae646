import { MINUTE, SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { ProviderProfile } from '../../provider/profile.ts'
import type { App } from '../../schemas/app/app.ts'
import { outboxEntry } from '../../schemas/outbox.ts'
import { consumeLink, linkId, linkKeptFrom, type UnwrittenFlow } from '../../schemas/user/consumed-link.ts'
import { ensureUser, generationOf, type User } from '../../schemas/user/user.ts'
import type { LinkClaims } from '../access/link-claims.ts'
import type { HttpRuntime } from '../kit/runtime.ts'

/** What an app may ask for (docs/behaviour.md, Authentication). */
const KNOWN_SCOPES: readonly string[] = ['conversations:read']

/** After the end of a link a request that it let in may still be at work. */
const LATE_MS = MINUTE

/** What a connect flow works on. */
interface BegunFlow {
  user: User
  profile: ProviderProfile
  /** For `noteFlowWritten`, where `tellsEnd`. */
  linkId: string
  /** The app hears of the flow's end (`connect.ended`). */
  tellsEnd: boolean
}

/**
 * Begins the connect flow `flowId` of a verified link: the user is created if missing, the link consumed and
 * `connect.started` sent, once (docs/behaviour.md, Connect flow). The same flow may come back with the same link. Throws `ServiceError`
 * `forbidden_scope` or `unknown_provider`, which leave the link unspent, or `link_used`.
 */
export async function beginFlow({
  app,
  claims,
  flowId,
  kind,
  runtime,
}: {
  app: Pick<App, '_id' | 'connectEndedEvents'>
  claims: LinkClaims
  flowId: string
  kind: UnwrittenFlow['kind']
  runtime: Pick<HttpRuntime, 'clock' | 'profiles'>
}): Promise<BegunFlow> {
  const forbidden = claims.scopes.find((scope) => !KNOWN_SCOPES.includes(scope))
  if (forbidden !== undefined) throw new ServiceError('forbidden_scope', { scope: forbidden })
  const profile = findProfile(runtime.profiles, claims.provider)
  const now = runtime.clock.now()
  const appId = app._id
  const user = await ensureUser({ appId, userRef: claims.userRef, now })
  const generation = generationOf(user)
  const _id = linkId({ appId, jti: claims.jti })
  const tellsEnd = app.connectEndedEvents ?? false
  const { first, link } = await consumeLink({
    _id,
    purpose: 'connect',
    flowId,
    generation,
    consumedAt: now,
    ...(tellsEnd
      ? {
          endDueAt: new Date(claims.exp * SECOND + LATE_MS),
          unwritten: { kind, appId, userId: user._id, userRef: user.userRef, provider: profile.id },
        }
      : { expireAt: linkKeptFrom(new Date(claims.exp * SECOND)) }),
    outbox: [
      outboxEntry({
        cause: _id,
        appId,
        event: 'connect.started',
        payload: { userRef: user.userRef, user_id: user._id, connector: profile.id, scopes: claims.scopes },
        at: now,
      }),
    ],
    outboxAt: now,
  })
  // Everything of the user may have been deleted since: a flow from before that does not come back.
  const isOurs = link.flowId === flowId && (link.generation ?? 0) === generation
  if (!first && !isOurs) throw new ServiceError('link_used')
  return { user, profile, linkId: _id, tellsEnd }
}

/** The provider that a link names, or the default. */
export function findProfile(profiles: ProviderProfile[], id?: string): ProviderProfile {
  const profile = id === undefined ? profiles[0] : profiles.find((each) => each.id === id)
  if (!profile) throw new ServiceError('unknown_provider')
  return profile
}
