import { z } from 'zod'
import { type ErrorCode, ServiceError } from '../../../core/errors.ts'
import type { Invitation, Member } from '../../../schemas/member/membership.ts'
import { isRole, normalEmail, ROLES, type Role } from '../../../schemas/member/role.ts'
import { teamOf } from '../../../schemas/member/team.ts'
import { changeMemberRole, inviteMember, removeFromTeam, resendInvitation, withdraw } from '../../actions/team.ts'
import { formField } from '../../pages/kit/form.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { sectionPath, sendAppPage } from '../kit/layout.ts'
import { buttonForm, card, emptyState, field, form, moment, pill, select } from '../kit/parts.ts'
import type { PortalHandlers } from '../kit/portal-router.ts'
import { goTo } from '../kit/redirect.ts'
import { table } from '../kit/table.ts'
import type { AppExchange } from '../kit/visit.ts'

type TeamHandlers = Pick<
  PortalHandlers,
  | 'GET /apps/:appId/team'
  | 'POST /apps/:appId/team/invitations'
  | 'POST /apps/:appId/team/invitations/:invitationId/resend'
  | 'POST /apps/:appId/team/invitations/:invitationId/withdraw'
  | 'POST /apps/:appId/team/members/:memberId/role'
  | 'POST /apps/:appId/team/members/:memberId/remove'
>

const LONGEST_EMAIL = 254
const emailField = z.email().max(LONGEST_EMAIL)
const ROLE_OPTIONS = ROLES.map((role) => ({ value: role, label: role }))

const pathOf = ({ app }: AppExchange): string => sectionPath(app._id, 'team')

export const teamHandlers: TeamHandlers = {
  'GET /apps/:appId/team': (exchange) => showTeam(exchange),
  'POST /apps/:appId/team/invitations': inviteSomebody,
  'POST /apps/:appId/team/invitations/:invitationId/resend': (exchange) =>
    orWhyNot(exchange, async () => {
      const { app, by, runtime } = exchange
      const { invitation } = await resendInvitation({ app, id: param(exchange, 'invitationId'), by, runtime })
      await say(exchange, `A new invitation is on its way to ${invitation.email}; the link of before ends.`)
    }),
  'POST /apps/:appId/team/invitations/:invitationId/withdraw': (exchange) =>
    orWhyNot(exchange, async () => {
      const { app, by, runtime } = exchange
      const { email } = await withdraw({ appId: app._id, id: param(exchange, 'invitationId'), by, runtime })
      await say(exchange, `The invitation of ${email} is withdrawn.`)
    }),
  'POST /apps/:appId/team/members/:memberId/role': (exchange) =>
    orWhyNot(exchange, async () => {
      const { app, by, runtime, request } = exchange
      const role = roleField(request)
      const id = param(exchange, 'memberId')
      const { email } = await changeMemberRole({ appId: app._id, id, role, by, runtime })
      await say(exchange, `${email} is ${role === 'owner' ? 'an owner' : 'a developer'} now.`)
    }),
  'POST /apps/:appId/team/members/:memberId/remove': (exchange) =>
    orWhyNot(exchange, async () => {
      const { app, by, runtime } = exchange
      const { email } = await removeFromTeam({ appId: app._id, id: param(exchange, 'memberId'), by, runtime })
      await say(exchange, `${email} is no longer a member.`)
    }),
}

const param = ({ request }: AppExchange, name: string): string => String(request.params[name])

const say = (exchange: AppExchange, text: string): Promise<void> =>
  goTo(exchange, pathOf(exchange), { kind: 'status', text })

function roleField(request: AppExchange['request']): Role {
  const role = formField(request, 'role')
  if (!isRole(role)) throw new ServiceError('invalid_parameter', { name: 'role', reason: 'must be developer or owner' })
  return role
}

const TOO_MANY = 'Too many invitations were sent in the last hour. Try again later.'

const NOT_CHANGED: Partial<Record<ErrorCode, string>> = {
  last_owner: 'An app always keeps at least one owner. Make somebody else an owner first.',
  rate_limited: TOO_MANY,
  not_found: 'The team has changed since the page was opened: this is how it is now.',
}

async function orWhyNot(exchange: AppExchange, change: () => Promise<void>): Promise<void> {
  try {
    await change()
  } catch (error) {
    const alert = error instanceof ServiceError ? NOT_CHANGED[error.code] : undefined
    if (!(error instanceof ServiceError) || alert === undefined) throw error
    await showTeam(exchange, { status: error.status, alert })
  }
}

const NOT_INVITED: Partial<Record<ErrorCode, (email: string) => string>> = {
  already_member: (email) => `${email} is a member already.`,
  already_invited: (email) => `${email} is invited already. Use “Resend” to send the mail again.`,
  rate_limited: () => TOO_MANY,
  team_full: () => 'The team has no more room. Remove somebody first.',
}

/** What the form of an invitation holds. */
interface Invited {
  email: string
  role: Role
}

async function inviteSomebody(exchange: AppExchange): Promise<void> {
  const { request, app, by, runtime } = exchange
  const email = normalEmail(formField(request, 'email') ?? '')
  const role = roleField(request)
  const refuse = (status: number, alert: string) => showTeam(exchange, { status, alert, invited: { email, role } })
  if (!emailField.safeParse(email).success) return refuse(400, 'Enter an e-mail address, such as name@company.com.')
  try {
    await inviteMember({ app, email, role, by, runtime })
  } catch (error) {
    const words = error instanceof ServiceError ? NOT_INVITED[error.code] : undefined
    if (!(error instanceof ServiceError) || !words) throw error
    return refuse(error.status, words(email))
  }
  await say(exchange, `An invitation is on its way to ${email}. It works for seven days.`)
}

async function showTeam(
  exchange: AppExchange,
  refused?: { status: number; alert: string; invited?: Invited },
): Promise<void> {
  const { app, role } = exchange
  const { members, invitations } = await teamOf(app._id)
  const owner = role === 'owner'
  sendAppPage(exchange, {
    ...(refused && { status: refused.status, alert: refused.alert }),
    section: 'team',
    title: 'Team',
    lead: owner
      ? 'Developers work with API keys and the webhook. Owners do everything.'
      : 'Developers work with API keys and the webhook. Owners do everything, and decide who belongs to the team.',
    body: [
      ...(owner ? [inviteCard(exchange, refused?.invited)] : []),
      card({ title: 'Members' }, memberTable(exchange, members)),
      ...(invitations.length > 0 || owner ? [invitationCard(exchange, invitations)] : []),
    ],
  })
}

const inviteCard = (exchange: AppExchange, invited: Invited | undefined): Markup =>
  card(
    { title: 'Invite somebody', text: 'They get a mail with a link that signs them in, good for seven days.' },
    form(exchange, { action: `${pathOf(exchange)}/invitations`, className: 'row' }, [
      field({
        label: 'E-mail',
        name: 'email',
        type: 'email',
        value: invited?.email,
        invalid: invited !== undefined,
        required: true,
        maxLength: LONGEST_EMAIL,
      }),
      select({ label: 'Role', name: 'role', value: invited?.role, options: ROLE_OPTIONS, id: 'new-role' }),
      html`<button class="button primary">Invite</button>`,
    ]),
  )

function memberTable(exchange: AppExchange, members: Member[]): Markup {
  const owner = exchange.role === 'owner'
  return table({
    caption: 'Members',
    columns: [
      { label: 'E-mail' },
      { label: 'Since' },
      { label: 'Role' },
      ...(owner ? [{ label: 'Actions', hideLabel: true }] : []),
    ],
    rows: members.map((member) => [
      html`${member.email}${member.email === exchange.email && html` <span class="soft">(you)</span>`}`,
      moment(member.joinedAt),
      owner ? roleForm(exchange, member) : member.role,
      ...(owner ? [removal(exchange, member)] : []),
    ]),
  })
}

const roleForm = (exchange: AppExchange, { id, role }: Member): Markup =>
  form(exchange, { action: `${pathOf(exchange)}/members/${id}/role`, className: 'actions' }, [
    select({ label: 'Role', name: 'role', value: role, options: ROLE_OPTIONS, hideLabel: true, id: `role-${id}` }),
    html`<button class="button plain small">Change role</button>`,
  ])

const removal = (exchange: AppExchange, { id, email }: Member): Markup =>
  html`<div class="actions">${buttonForm(exchange, {
    action: `${pathOf(exchange)}/members/${id}/remove`,
    label: 'Remove',
    kind: 'danger small',
    describedBy: email,
  })}</div>`

function invitationCard(exchange: AppExchange, invitations: Invitation[]): Markup {
  const title = 'Open invitations'
  if (invitations.length === 0)
    return card(
      { title },
      emptyState({ title: 'Nobody is invited', text: 'Whoever you invite stands here until they sign in.' }),
    )
  const owner = exchange.role === 'owner'
  const now = exchange.runtime.clock.now()
  return card(
    { title },
    table({
      caption: title,
      columns: [
        { label: 'E-mail' },
        { label: 'Role' },
        { label: 'Invited by' },
        { label: 'Expires' },
        ...(owner ? [{ label: 'Actions', hideLabel: true }] : []),
      ],
      rows: invitations.map((each) => [
        each.email,
        each.role,
        each.invitedBy,
        each.expiresAt > now ? moment(each.expiresAt) : pill('Expired', 'warn'),
        ...(owner ? [invitationActions(exchange, each)] : []),
      ]),
    }),
  )
}

const invitationActions = (exchange: AppExchange, { id }: Invitation): Markup => html`<div class="actions">
${buttonForm(exchange, { action: `${pathOf(exchange)}/invitations/${id}/resend`, label: 'Resend', kind: 'small' })}
${buttonForm(exchange, { action: `${pathOf(exchange)}/invitations/${id}/withdraw`, label: 'Withdraw', kind: 'danger small' })}
</div>`
