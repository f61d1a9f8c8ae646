import { DAY, SECOND } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import { userTarget } from '../../../schemas/command/command.ts'
import { writeCommand } from '../../../schemas/command/commands.ts'
import { consumeLink, linkId } from '../../../schemas/user/consumed-link.ts'
import { Users } from '../../../schemas/user/user.ts'
import { deletionIdOf, type ManageVisit } from '../../access/manage-link.ts'
import type { HttpRuntime } from '../../kit/runtime.ts'

/**
 * Consumes the link and asks for the deletion of everything of its user, once however often this browser confirms; answers the
 * command's id. A user who never connected anything has no record: null, and the link stays. Throws `link_used` where another browser
 * was first.
 */
export async function confirmDeletion({
  visit: { claims, flowId },
  runtime: { clock },
}: {
  visit: ManageVisit
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
    expireAt: new Date(exp * SECOND + DAY),
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
