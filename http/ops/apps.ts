import type { App } from '../../schemas/app/app.ts'
import type { OpsApp } from '../../wire/ops-apps.ts'
import { changeApp, createApp, listApps } from '../actions/apps.ts'
import { inviteByOperator } from '../actions/team.ts'
import { sendTestEvent } from '../actions/test-event.ts'
import type { OpsPart } from './handler.ts'
import { isoOrNull } from './iso.ts'

export const appHandlers: OpsPart<'listApps' | 'createApp' | 'changeApp' | 'sendTestEvent' | 'inviteMember'> = (
  runtime,
) => ({
  listApps: async () => ({ apps: (await listApps()).map(view) }),
  createApp: async ({ body, by, request, response }) =>
    createApp({
      body,
      idempotencyKey: request.get('idempotency-key'),
      canAnswer: () => !response.closed && !response.headersSent,
      by,
      runtime,
    }),
  changeApp: async ({ params, body, by }) => view(await changeApp({ ...params, body, by, runtime })),
  inviteMember: async ({ params, body, by }) => {
    const { invitation, signInUrl } = await inviteByOperator({ ...params, ...body, by, runtime })
    const { email, role, expiresAt } = invitation
    return { email, role, expiresAt: expiresAt.toISOString(), signInUrl }
  },
  sendTestEvent: async ({ params, by }) => {
    const message = 'A test event, sent by an operator'
    return { ok: true, ...(await sendTestEvent({ ...params, message, by, runtime })) }
  },
})

const view = (app: App): OpsApp => ({
  appId: app._id,
  appName: app.name,
  contactEmail: app.contactEmail,
  logoUrl: app.logoUrl ?? null,
  primaryColor: app.primaryColor ?? null,
  webhookUrl: app.webhookUrl ?? null,
  requestsPerMinute: app.requestsPerMinute,
  connectEndedEvents: app.connectEndedEvents ?? false,
  activeApiKeys: app.apiKeys.filter(({ revokedAt }) => !revokedAt).length,
  discardedEvents: app.discarded?.events ?? 0,
  lastDiscardedAt: isoOrNull(app.discarded?.at),
  createdAt: app.createdAt.toISOString(),
})
