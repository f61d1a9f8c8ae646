import type { Router } from 'express'
import { ServiceError } from '../../core/errors.ts'
import { createMagicLink } from '../access/magic-link.ts'
import type { PageContext } from '../pages/kit/exchange.ts'
import { sectionPath } from './kit/layout.ts'
import { portalRouter } from './kit/portal-router.ts'
import { activityHandlers } from './sections/activity.ts'
import { deliveryHandlers } from './sections/deliveries.ts'
import { keyHandlers } from './sections/keys.ts'
import { overviewHandlers } from './sections/overview.ts'
import { settingsHandlers } from './sections/settings.ts'
import { teamHandlers } from './sections/team.ts'
import { userHandlers } from './sections/users.ts'
import { webhookHandlers } from './sections/webhooks.ts'
import { signInHandlers } from './sign-in.ts'

/** The developer portal (docs/behaviour.md, Developer portal). */
export const portal = (context: PageContext): Router =>
  portalRouter({
    context,
    handlers: {
      ...signInHandlers({ magicLink: createMagicLink(context.runtime) }),
      'GET /': ({ response, apps }) => response.redirect(303, sectionPath(apps[0]?.appId ?? '', 'overview')),
      'GET /switch': ({ request, response, apps }) => {
        const { app } = request.query
        if (!apps.some(({ appId }) => appId === app)) throw new ServiceError('not_found')
        response.redirect(303, sectionPath(String(app), 'overview'))
      },
      'GET /apps/:appId': ({ response, app }) => response.redirect(303, sectionPath(app._id, 'overview')),
      ...overviewHandlers(context.runtime),
      ...userHandlers,
      ...keyHandlers,
      ...webhookHandlers,
      ...deliveryHandlers,
      ...teamHandlers,
      ...activityHandlers,
      ...settingsHandlers,
    },
  })
