import { ServiceError } from '../../core/errors.ts'
import type { App } from '../../schemas/app/app.ts'
import { Apps } from '../../schemas/app/app.ts'
import { invitationMail } from '../../schemas/mail/compose.ts'
import { writeMail } from '../../schemas/mail/mail.ts'
import { invite, renewInvitation, withdrawInvitation } from '../../schemas/member/invitations.ts'
import { INVITATIONS_PER_ADDRESS, INVITATIONS_PER_APP, takePlace } from '../../schemas/member/mail-limit.ts'
import { INVITATION_MS, type Invitation, type Member } from '../../schemas/member/membership.ts'
import { normalEmail, type Role } from '../../schemas/member/role.ts'
import { createSignInUrl } from '../../schemas/member/sign-in.ts'
import { changeRole, type MemberChange, removeMember, teamOf } from '../../schemas/member/team.ts'
import { audited } from '../../schemas/operations/audit.ts'
import type { Act } from './act.ts'

/** An invitation that is on its way; the address of its link is a secret, shown to operators this once. */
interface SentInvitation {
  invitation: Invitation
  signInUrl: string
}

type NamedApp = Pick<App, '_id' | 'name'>

const NOT_INVITED = { member: 'already_member', invited: 'already_invited', full: 'team_full' } as const

/** A member sends so many mails to whomever they name; operators are not limited. Throws `rate_limited`. */
async function checkMails({
  appId,
  email,
  by,
  now,
}: { appId: string; email: string; now: Date } & Pick<Act, 'by'>): Promise<void> {
  if (by.kind !== 'member') return
  const places = [
    { what: `invitations|${appId}`, most: INVITATIONS_PER_APP },
    { what: `invitations|${appId}|${email}`, most: INVITATIONS_PER_ADDRESS },
  ]
  for (const place of places) if (!(await takePlace({ ...place, now }))) throw new ServiceError('rate_limited')
}

/** Invites an address to an app's team by mail. Throws `ServiceError` `already_member`, `already_invited`, `team_full` or `rate_limited`. */
export async function inviteMember({
  app,
  email,
  role,
  by,
  runtime,
}: Act & { app: NamedApp; email: string; role: Role }): Promise<SentInvitation> {
  const now = runtime.clock.now()
  const entry = { at: now, by, action: 'member.invited', appId: app._id, target: normalEmail(email), details: { role } }
  return audited(entry, async () => {
    await checkMails({ appId: app._id, email: entry.target, by, now })
    const invitedBy = by.kind === 'member' ? by.id : by.kind
    const invited = await invite({ appId: app._id, email, role, invitedBy, now })
    if ('not' in invited) throw new ServiceError(NOT_INVITED[invited.not])
    const { invitation } = invited
    return { invitation, signInUrl: await mailInvitation({ app, invitation, runtime }) }
  })
}

/** Sends an invitation again, for another seven days; the link of before ends. Throws `not_found` or `rate_limited`. */
export async function resendInvitation({
  app,
  id,
  by,
  runtime,
}: Act & { app: NamedApp; id: string }): Promise<SentInvitation> {
  const now = runtime.clock.now()
  return audited(
    { at: now, by, action: 'invitation.resent', appId: app._id, target: id },
    async () => {
      const open = (await teamOf(app._id)).invitations.find((each) => each.id === id)
      if (open) await checkMails({ appId: app._id, email: open.email, by, now })
      const invitation = await renewInvitation({ appId: app._id, id, now })
      if (!invitation) throw new ServiceError('not_found')
      return { invitation, signInUrl: await mailInvitation({ app, invitation, runtime }) }
    },
    ({ invitation }) => ({ target: invitation.email }),
  )
}

/** As `inviteMember`, and one that is open is sent again: an operator asks for a link that works. Throws `app_not_found`. */
export async function inviteByOperator({
  appId,
  email,
  role,
  by,
  runtime,
}: Act & { appId: string; email: string; role: Role }): Promise<SentInvitation> {
  const app = await Apps.findById(appId).select({ name: 1 }).lean<NamedApp>()
  if (!app) throw new ServiceError('app_not_found')
  const { invitations } = await teamOf(appId)
  const open = invitations.find((each) => each.email === normalEmail(email) && each.role === role)
  return open ? resendInvitation({ app, id: open.id, by, runtime }) : inviteMember({ app, email, role, by, runtime })
}

/**
 * Invites the first owner of an app that is being made. Where another attempt at it has invited them already, theirs stays, and so does its link.
 * Returns the address of the link.
 */
export async function inviteFirstOwner({
  app,
  email,
  by,
  runtime,
}: Act & { app: NamedApp; email: string }): Promise<string> {
  const now = runtime.clock.now()
  await invite({ appId: app._id, email, role: 'owner', invitedBy: by.kind, now })
  const { invitations } = await teamOf(app._id)
  const invitation = invitations.find((each) => each.email === normalEmail(email))
  if (!invitation) throw new ServiceError('app_exists')
  return mailInvitation({ app, invitation, runtime })
}

async function mailInvitation({
  app,
  invitation: { id, email, role, invitedBy },
  runtime: { clock, keyring, config },
}: {
  app: NamedApp
  invitation: Invitation
  runtime: Act['runtime']
}): Promise<string> {
  const now = clock.now()
  const link = { email, invitationId: id, lifetimeMs: INVITATION_MS, baseUrl: config.BASE_URL }
  const url = await createSignInUrl({ ...link, keyring, now })
  const inviter = invitedBy.includes('@') ? invitedBy : undefined
  const content = invitationMail({ url, appName: app.name, role, invitedBy: inviter })
  await writeMail({ kind: 'invitation', appId: app._id, to: email, content, keyring, now, usefulMs: INVITATION_MS })
  return url
}

/** Takes an invitation back; its link ends. Throws `not_found`. */
export async function withdraw({ appId, id, by, runtime }: Act & { appId: string; id: string }): Promise<Invitation> {
  return audited(
    { at: runtime.clock.now(), by, action: 'invitation.withdrawn', appId, target: id },
    async () => {
      const invitation = await withdrawInvitation({ appId, id })
      if (!invitation) throw new ServiceError('not_found')
      return invitation
    },
    ({ email }) => ({ target: email }),
  )
}

async function memberOf({ appId, id }: { appId: string; id: string }): Promise<Member> {
  const member = (await teamOf(appId)).members.find((each) => each.id === id)
  if (!member) throw new ServiceError('not_found')
  return member
}

function check(change: MemberChange): void {
  if (change === 'unknown') throw new ServiceError('not_found')
  if (change === 'last owner') throw new ServiceError('last_owner')
}

/** Gives a member another role. Throws `not_found`, or `last_owner` where no owner would be left. */
export async function changeMemberRole({
  appId,
  id,
  role,
  by,
  runtime,
}: Act & { appId: string; id: string; role: Role }): Promise<Member> {
  const member = await memberOf({ appId, id })
  const at = runtime.clock.now()
  const entry = { at, by, action: 'member.role-changed', appId, target: member.email, details: { role } }
  await audited(entry, async () => check(await changeRole({ appId, id, role })))
  return member
}

/** Takes a member out of the team, which ends their visits. Throws `not_found` or `last_owner`. */
export async function removeFromTeam({ appId, id, by, runtime }: Act & { appId: string; id: string }): Promise<Member> {
  const member = await memberOf({ appId, id })
  const entry = { at: runtime.clock.now(), by, action: 'member.removed', appId, target: member.email }
  await audited(entry, async () => check(await removeMember({ appId, id })))
  return member
}
