import { newId } from '../../core/ids.ts'
import { trusted, unlessDuplicate } from '../database.ts'
import { type Invitation, type Member, type Memberships, Teams } from './membership.ts'
import type { Role } from './role.ts'
import { shortenSignInsOf } from './sign-in.ts'

/** What became of a change to a member. `last owner`: nothing was changed, since the app would be left without one. */
export type MemberChange = 'done' | 'unknown' | 'last owner'

/** The team of an app; empty where nobody was invited yet. */
export async function teamOf(appId: string): Promise<Memberships> {
  return (await Teams.findById(appId).lean<Memberships>()) ?? { _id: appId, members: [], invitations: [] }
}

/** The apps that somebody belongs to, by id, with their role in each. */
export async function membershipsOf(email: string): Promise<{ appId: string; member: Member }[]> {
  const teams = await Teams.find({ 'members.email': email })
    .select({ members: 1 })
    .sort({ _id: 1 })
    .lean<Pick<Memberships, '_id' | 'members'>[]>()
  return teams.flatMap(({ _id, members }) => {
    const member = members.find((each) => each.email === email)
    return member ? [{ appId: _id, member }] : []
  })
}

/** Makes somebody a member who is none yet, whatever their invitation says. */
export async function ensureMember({
  appId,
  email,
  role,
  now,
}: {
  appId: string
  email: string
  role: Role
  now: Date
}): Promise<void> {
  const member = { id: newId(), email, role, joinedAt: now }
  await Teams.updateOne(
    { _id: appId, 'members.email': trusted({ $ne: email }) },
    { $push: { members: member } },
    { upsert: true },
  ).catch(unlessDuplicate)
}

/** Whether a sign-in link is worth sending: the person is a member somewhere, or asked to become one. */
export async function isKnown({ email, now }: { email: string; now: Date }): Promise<boolean> {
  const invited = { invitations: trusted({ $elemMatch: { email, expiresAt: { $gt: now } } }) }
  return (await Teams.exists({ $or: [{ 'members.email': email }, invited] })) !== null
}

/** Where an address is invited, one invitation an app; those that ran out are none. */
export async function openInvitations({
  email,
  now,
}: {
  email: string
  now: Date
}): Promise<{ appId: string; invitation: Invitation }[]> {
  const open = { email, expiresAt: { $gt: now } }
  const teams = await Teams.find({ invitations: trusted({ $elemMatch: open }) }).lean<Memberships[]>()
  return teams.flatMap(({ _id, invitations }) => {
    const invitation = invitations.find((each) => each.email === email && each.expiresAt > now)
    return invitation ? [{ appId: _id, invitation }] : []
  })
}

/**
 * Makes whoever proved to hold the address of an invitation a member, once. What else was mailed with it is from now on a sign-in link like any other. Returns whether they were none before.
 */
export async function acceptInvitation({
  appId,
  invitation: { id, email, role },
  now,
}: {
  appId: string
  invitation: Invitation
  now: Date
}): Promise<boolean> {
  const { modifiedCount } = await Teams.updateOne(
    {
      _id: appId,
      invitations: trusted({ $elemMatch: { id, expiresAt: { $gt: now } } }),
      'members.email': trusted({ $ne: email }),
    },
    { $push: { members: { id: newId(), email, role, joinedAt: now } }, $pull: { invitations: { email } } },
  )
  await shortenSignInsOf({ invitationId: id, now })
  return modifiedCount > 0
}

const isMember = (id: string) => ({ members: trusted({ $elemMatch: { id } }) })
const hasOtherOwner = (id: string) => ({ members: trusted({ $elemMatch: { id: { $ne: id }, role: 'owner' } }) })
/** What may happen to a member without leaving the app ownerless: they are none, or not the only one. */
const mayGo = (id: string) => ({
  $or: [{ members: trusted({ $elemMatch: { id, role: 'developer' } }) }, hasOtherOwner(id)],
})

/** Gives a member another role, in one write that also sees to it that an owner stays. */
export async function changeRole({
  appId,
  id,
  role,
}: {
  appId: string
  id: string
  role: Role
}): Promise<MemberChange> {
  const stays = role === 'owner' ? {} : mayGo(id)
  const { matchedCount } = await Teams.updateOne(
    { _id: appId, $and: [isMember(id), stays] },
    { $set: { 'members.$[member].role': role } },
    { arrayFilters: [{ 'member.id': id }] },
  )
  return matchedCount > 0 ? 'done' : whyNot({ appId, id })
}

/** Takes a member out, in one write that also sees to it that an owner stays. Their visits end with it. */
export async function removeMember({ appId, id }: { appId: string; id: string }): Promise<MemberChange> {
  const { matchedCount } = await Teams.updateOne(
    { _id: appId, $and: [isMember(id), mayGo(id)] },
    { $pull: { members: { id } } },
  )
  return matchedCount > 0 ? 'done' : whyNot({ appId, id })
}

const whyNot = async ({ appId, id }: { appId: string; id: string }): Promise<MemberChange> =>
  (await Teams.exists({ _id: appId, ...isMember(id) })) ? 'last owner' : 'unknown'
