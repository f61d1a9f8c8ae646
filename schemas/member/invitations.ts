import { newId } from '../../core/ids.ts'
import { isDuplicate, trusted } from '../database.ts'
import { INVITATION_MS, type Invitation, TEAM_LIMIT, Teams } from './membership.ts'
import { normalEmail, type Role } from './role.ts'
import { endSignInsOf } from './sign-in.ts'

/** Why nobody was invited. */
type NotInvited = 'member' | 'invited' | 'full'

const expiry = (now: Date): Date => new Date(now.getTime() + INVITATION_MS)

/** Asks an address to join an app's team: one write, so that nobody is in it twice. */
export async function invite({
  appId,
  email: given,
  role,
  invitedBy,
  now,
}: {
  appId: string
  email: string
  role: Role
  invitedBy: string
  now: Date
}): Promise<{ invitation: Invitation } | { not: NotInvited }> {
  const email = normalEmail(given)
  const invitation: Invitation = { id: newId(), email, role, invitedBy, invitedAt: now, expiresAt: expiry(now) }
  // One that ran out is as good as none.
  await Teams.updateOne({ _id: appId }, { $pull: { invitations: { email, expiresAt: { $lte: now } } } })
  const none = trusted({ $ne: email })
  const room = trusted({ $exists: false })
  const fits = {
    'members.email': none,
    'invitations.email': none,
    [`members.${TEAM_LIMIT}`]: room,
    [`invitations.${TEAM_LIMIT}`]: room,
  }
  const add = () =>
    Teams.updateOne({ _id: appId, ...fits }, { $push: { invitations: invitation } }, { upsert: true }).then(
      ({ matchedCount, upsertedCount }) => matchedCount + upsertedCount > 0,
      (error: unknown) => (isDuplicate(error) ? false : Promise.reject(error)),
    )
  // A second time where another one made the document in between.
  if ((await add()) || (await add())) return { invitation }
  const team = await Teams.findById(appId).lean()
  if (team?.members.some((each) => each.email === email)) return { not: 'member' }
  return { not: team?.invitations.some((each) => each.email === email) ? 'invited' : 'full' }
}

/** Gives an invitation its seven days anew and ends the links that were sent with it; null where it is gone. */
export async function renewInvitation({
  appId,
  id,
  now,
}: {
  appId: string
  id: string
  now: Date
}): Promise<Invitation | null> {
  const team = await Teams.findOneAndUpdate(
    { _id: appId, 'invitations.id': id },
    { $set: { 'invitations.$[one].invitedAt': now, 'invitations.$[one].expiresAt': expiry(now) } },
    { arrayFilters: [{ 'one.id': id }], returnDocument: 'after' },
  ).lean()
  await endSignInsOf({ invitationId: id })
  return team?.invitations.find((each) => each.id === id) ?? null
}

/** Takes an invitation back, and its links with it; null where it was gone already. */
export async function withdrawInvitation({ appId, id }: { appId: string; id: string }): Promise<Invitation | null> {
  const team = await Teams.findOneAndUpdate(
    { _id: appId, 'invitations.id': id },
    { $pull: { invitations: { id } } },
    { returnDocument: 'before' },
  ).lean()
  await endSignInsOf({ invitationId: id })
  return team?.invitations.find((each) => each.id === id) ?? null
}
