import { SECOND } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import { deriveId } from '../../../core/ids.ts'
import { type Command, Commands, userTarget } from '../../../schemas/command/command.ts'
import { writeCommand } from '../../../schemas/command/commands.ts'
import { consumeLink, linkId, linkKeptFrom } from '../../../schemas/user/consumed-link.ts'
import { Users } from '../../../schemas/user/user.ts'
import type { LinkClaims } from '../../access/link-claims.ts'
import type { LinkVisit } from '../../access/link-visits.ts'
import type { HttpRuntime } from '../../kit/runtime.ts'

/** The one deletion of a link: asked for again it is the same, whatever died in between. */
const deletionIdOf = (claims: LinkClaims): string => deriveId('purge', 'link', linkId(claims))

/** The deletion that this browser confirmed; null before that. */
export async function deletionOf({ claims, consumed }: LinkVisit): Promise<Command<'purge'> | null> {
  // Without a consumption that was seen to be this browser's, the deletion may be another one's that came in between.
  return consumed ? Commands.findById(deletionIdOf(claims)).lean<Command<'purge'>>() : null
}

/**
 * Consumes the link and asks for the deletion of everything of its user, once however often this browser confirms; returns the
 * command's id. A user who never connected anything has no record: null, and the link stays. Throws `link_used` where another browser
 * was first.
 */
export async function confirmDeletion({
  visit: { claims, flowId },
  runtime: { clock },
}: {
  visit: LinkVisit
  runtime: Pick<HttpRuntime, 'clock'>
}): Promise<string | null> {
  const { appId, userRef, jti, exp } = claims
  const user = await Users.findOne({ appId, userRef }).select({ _id: 1 }).lean<{ _id: string }>()
  if (!user) return null
  const now = clock.now()
  const { first, link } = await consumeLink({
    _id: linkId(claims),
    purpose: 'manage',
    flowId,
    consumedAt: now,
    expireAt: linkKeptFrom(new Date(exp * SECOND)),
    outbox: [],
  })
  if (!first && link.flowId !== flowId) throw new ServiceError('link_used')
  return writeCommand({
    id: deletionIdOf(claims),
    kind: 'purge',
    appId,
    target: userTarget(user._id),
    by: { kind: 'link', id: jti },
    args: { userId: user._id, userRef },
    now,
  })
}
