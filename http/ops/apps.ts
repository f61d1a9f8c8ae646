import type { Request, RequestHandler, Response } from 'express'
import { SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { webhookUrlProblem } from '../../core/public-address.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import { createApp } from '../../schemas/app/apps.ts'
import { awaitCommand, writeCommand } from '../../schemas/command/commands.ts'
import { isDuplicate } from '../../schemas/database.ts'
import { recordAudit } from '../../schemas/operations/audit.ts'
import { type ChangedAppBody, changedAppBody, newAppBody, type OpsApp } from '../../wire/ops-apps.ts'
import { OPERATOR } from '../access/operator.ts'
import { resultOf } from '../actions/command-result.ts'
import { goneSignal } from '../kit/abort-signal.ts'
import { parseInput } from '../kit/input.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { isoOrNull } from './query.ts'

/** GET /ops/apps: without any secret. */
export const listApps: RequestHandler = async (_request, response) => {
  const apps = await Apps.find().sort({ _id: 1 }).lean<App[]>()
  response.json({ apps: apps.map(view) })
}

const view = (app: App): OpsApp => ({
  appId: app._id,
  appName: app.name,
  contactEmail: app.contactEmail,
  logoUrl: app.logoUrl ?? null,
  primaryColor: app.primaryColor ?? null,
  webhookUrl: app.webhookUrl ?? null,
  requestsPerMinute: app.requestsPerMinute,
  activeApiKeys: app.apiKeys.filter(({ revokedAt }) => !revokedAt).length,
  discardedEvents: app.discarded?.events ?? 0,
  lastDiscardedAt: isoOrNull(app.discarded?.at),
  createdAt: app.createdAt.toISOString(),
})

/** The fields of an app's document that a body gives: `set` to a value, or removed. */
function changesOf({ appName, ...rest }: ChangedAppBody) {
  const given = Object.entries({ ...rest, name: appName }).filter(([, value]) => value !== undefined)
  return {
    set: Object.fromEntries(given.filter(([, value]) => value !== null)) as Partial<App>,
    unset: Object.fromEntries(given.filter(([, value]) => value === null).map(([field]) => [field, 1])),
  }
}

/** docs/security.md, The network: https and public addresses only, unless the sandbox was set up for a developer's own machine. */
function checkWebhookUrl(url: string | null | undefined, { config }: HttpRuntime): void {
  const reason = url ? webhookUrlProblem(url, { allowPrivate: config.WEBHOOK_PRIVATE_ADDRESSES }) : null
  if (reason) throw new ServiceError('invalid_parameter', { name: 'webhookUrl', reason })
}

/** POST /ops/apps: takes a partner on; the secrets are shown this once. */
export const postApp =
  (runtime: HttpRuntime) =>
  async (request: Request, response: Response): Promise<void> => {
    const { appId, appName, contactEmail, ownerEmail: _, ...rest } = parseInput(newAppBody, request.body)
    checkWebhookUrl(rest.webhookUrl, runtime)
    const now = runtime.clock.now()
    const { keyring } = runtime
    const branding = changesOf(rest).set
    try {
      const secrets = await createApp({
        appId,
        name: appName,
        contactEmail,
        ...branding,
        createdBy: 'operator',
        keyring,
        now,
      })
      await recordAudit({ at: now, by: OPERATOR, action: 'app.created', appId, target: appId })
      response.status(201).json(secrets)
    } catch (error) {
      throw isDuplicate(error) ? new ServiceError('app_exists') : error
    }
  }

/** PATCH /ops/apps/:appId */
export const patchApp =
  (runtime: HttpRuntime) =>
  async (request: Request, response: Response): Promise<void> => {
    const body = parseInput(changedAppBody, request.body)
    checkWebhookUrl(body.webhookUrl, runtime)
    const appId = String(request.params['appId'])
    const { set, unset } = changesOf(body)
    const app = await Apps.findOneAndUpdate(
      { _id: appId },
      { ...(Object.keys(set).length > 0 && { $set: set }), ...(Object.keys(unset).length > 0 && { $unset: unset }) },
      { returnDocument: 'after' },
    ).lean<App>()
    if (!app) throw new ServiceError('app_not_found')
    const fields = [...Object.keys(set), ...Object.keys(unset)]
    await recordAudit({
      at: runtime.clock.now(),
      by: OPERATOR,
      action: 'app.changed',
      appId,
      target: appId,
      details: { fields },
    })
    response.json(view(app))
  }

/** A test event is a command like any other; it takes as long as one look at the commands that wait. */
const TEST_EVENT_WAIT_MS = 10 * SECOND

/** POST /ops/apps/:appId/test-event: tries the app's webhook out; its delivery is then found under /ops/deliveries. */
export const postTestEvent =
  ({ clock }: HttpRuntime) =>
  async (request: Request, response: Response): Promise<void> => {
    const appId = String(request.params['appId'])
    if (!(await Apps.exists({ _id: appId }))) throw new ServiceError('app_not_found')
    const id = await writeCommand({
      kind: 'test-event',
      appId,
      target: appId,
      by: OPERATOR,
      args: { userRef: 'test', message: 'A test event, sent by an operator' },
      now: clock.now(),
    })
    const signal = goneSignal(response)
    const command = await awaitCommand<'test-event'>({ id, clock, timeoutMs: TEST_EVENT_WAIT_MS, signal })
    response.json({ ok: true, ...resultOf(command) })
  }
