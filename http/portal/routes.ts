import type { Role } from '../../schemas/member/role.ts'

/** Who may ask for a route: `anyone`, whoever is signed in (`member`), or at least this role in the app of the address. */
export type Access = 'anyone' | 'member' | Role

/** Every route of the portal with who may ask for it, below `/developers`. A route that is not here cannot be mounted. */
export const ACCESS = {
  'GET /sign-in': 'anyone',
  'POST /sign-in': 'anyone',
  'GET /sign-in/link': 'anyone',
  'GET /sign-in/confirm': 'anyone',
  'POST /sign-in/confirm': 'anyone',
  'GET /': 'member',
  'GET /switch': 'member',
  'POST /sign-out': 'member',
  'POST /sign-out-everywhere': 'member',
  'GET /apps/:appId': 'developer',
  'GET /apps/:appId/overview': 'developer',
  'GET /apps/:appId/users': 'developer',
  'GET /apps/:appId/users/:userId': 'developer',
  'GET /apps/:appId/users/:userId/delete': 'owner',
  'POST /apps/:appId/users/:userId/delete': 'owner',
  'GET /apps/:appId/keys': 'developer',
  'POST /apps/:appId/keys': 'developer',
  'GET /apps/:appId/keys/:keyId/revoke': 'developer',
  'POST /apps/:appId/keys/:keyId/revoke': 'developer',
  'GET /apps/:appId/webhooks': 'developer',
  'POST /apps/:appId/webhooks/endpoint': 'developer',
  'POST /apps/:appId/webhooks/test': 'developer',
  'POST /apps/:appId/webhooks/replay': 'developer',
  'GET /apps/:appId/webhooks/rotate': 'owner',
  'POST /apps/:appId/webhooks/rotate': 'owner',
  'POST /apps/:appId/webhooks/end-overlap': 'owner',
  'GET /apps/:appId/webhooks/deliveries/:deliveryId': 'developer',
  'POST /apps/:appId/webhooks/deliveries/:deliveryId/replay': 'developer',
  'GET /apps/:appId/team': 'developer',
  'POST /apps/:appId/team/invitations': 'owner',
  'POST /apps/:appId/team/invitations/:invitationId/resend': 'owner',
  'POST /apps/:appId/team/invitations/:invitationId/withdraw': 'owner',
  'POST /apps/:appId/team/members/:memberId/role': 'owner',
  'POST /apps/:appId/team/members/:memberId/remove': 'owner',
  'GET /apps/:appId/activity': 'developer',
  'GET /apps/:appId/activity.csv': 'developer',
  'GET /apps/:appId/settings': 'developer',
  'POST /apps/:appId/settings': 'owner',
  'GET /apps/:appId/settings/rotate': 'owner',
  'POST /apps/:appId/settings/rotate': 'owner',
  'POST /apps/:appId/settings/end-overlap': 'owner',
} as const satisfies Record<string, Access>

export type RouteName = keyof typeof ACCESS

/** Where the portal is mounted. */
export const PORTAL_PATH = '/developers'
export const SIGN_IN_PATH = `${PORTAL_PATH}/sign-in`

/** Each role may do what those before it may. */
export const mayDo = (role: Role, access: Role): boolean => access === 'developer' || role === 'owner'
