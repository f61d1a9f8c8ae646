import { ServiceError } from '../../../core/errors.ts'
import type { ApiKey } from '../../../schemas/app/app.ts'
import { newApiKeyBody } from '../../../wire/ops-keys.ts'
import { createApiKey, revokeApiKey } from '../../actions/app-secrets.ts'
import { formField } from '../../pages/kit/form.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { problemOf } from '../kit/input.ts'
import { sectionPath, sendAppPage } from '../kit/layout.ts'
import { buttonForm, card, emptyState, field, form, moment } from '../kit/parts.ts'
import type { PortalHandlers } from '../kit/portal-router.ts'
import { goTo } from '../kit/redirect.ts'
import { table } from '../kit/table.ts'
import type { AppExchange } from '../kit/visit.ts'

type KeyHandlers = Pick<
  PortalHandlers,
  | 'GET /apps/:appId/keys'
  | 'POST /apps/:appId/keys'
  | 'GET /apps/:appId/keys/:keyId/revoke'
  | 'POST /apps/:appId/keys/:keyId/revoke'
>

const pathOf = ({ app }: AppExchange): string => sectionPath(app._id, 'keys')

export const keyHandlers: KeyHandlers = {
  'GET /apps/:appId/keys': (exchange) => showKeys(exchange),
  'POST /apps/:appId/keys': createKey,
  'GET /apps/:appId/keys/:keyId/revoke': confirmRevocation,
  'POST /apps/:appId/keys/:keyId/revoke': async (exchange) => {
    const { app, by, runtime } = exchange
    const key = keyOf(exchange)
    if (key.revokedAt) return sayRevoked(exchange, key)
    await revokeApiKey({ appId: app._id, id: key.id, by, runtime })
    await goTo(exchange, pathOf(exchange), {
      kind: 'status',
      text: `“${key.name}” is revoked and refused from now on.`,
    })
  },
}

function showKeys(exchange: AppExchange, refused?: { status: number; alert: string; name: string }): void {
  const active = exchange.app.apiKeys.filter(({ revokedAt }) => !revokedAt)
  const revoked = exchange.app.apiKeys.filter(({ revokedAt }) => revokedAt)
  sendAppPage(exchange, {
    ...(refused && { status: refused.status, alert: refused.alert }),
    section: 'keys',
    title: 'API keys',
    lead: 'Your backend sends a key as a Bearer token with each request. Several can be active at once, so that you can change them without downtime.',
    body: [
      card(
        { title: 'Create a key', text: 'Name it after what uses it. The key is shown once.' },
        form(exchange, { action: pathOf(exchange), className: 'row' }, [
          field({
            label: 'Name',
            name: 'name',
            value: refused?.name,
            invalid: refused !== undefined,
            required: true,
            maxLength: 80,
          }),
          html`<button class="button primary">Create API key</button>`,
        ]),
      ),
      active.length === 0
        ? card(
            { title: 'Active keys' },
            emptyState({
              title: 'No active key',
              text: 'Without one the API refuses every request of yours. Create a key above and put it into your backend’s configuration.',
            }),
          )
        : card({ title: 'Active keys' }, keyTable(exchange, active)),
      ...(revoked.length > 0 ? [revokedCard(revoked)] : []),
    ],
  })
}

const hint = ({ hint: last }: ApiKey): Markup => html`<span class="mono">ccs_…${last}</span>`

const keyTable = (exchange: AppExchange, keys: ApiKey[]): Markup =>
  table({
    caption: 'Active API keys',
    columns: [
      { label: 'Name' },
      { label: 'Key', unbroken: true },
      { label: 'Made' },
      { label: 'Made by' },
      { label: 'Last used' },
      { label: 'Actions', hideLabel: true },
    ],
    rows: keys.toReversed().map((key) => [
      html`<bdi>${key.name}</bdi>`,
      hint(key),
      moment(key.createdAt),
      key.createdBy,
      key.lastUsedAt ? moment(key.lastUsedAt) : html`<span class="soft">Never</span>`,
      html`<div class="actions">${buttonForm(exchange, {
        action: `${pathOf(exchange)}/${key.id}/revoke`,
        method: 'get',
        label: 'Revoke',
        kind: 'danger small',
      })}</div>`,
    ]),
  })

const revokedCard = (keys: ApiKey[]): Markup =>
  card(
    { title: 'Revoked keys' },
    table({
      caption: 'Revoked API keys',
      columns: [{ label: 'Name' }, { label: 'Key', unbroken: true }, { label: 'Revoked' }],
      rows: keys
        .toReversed()
        .map((key) => [html`<bdi>${key.name}</bdi>`, hint(key), key.revokedAt && moment(key.revokedAt)]),
    }),
  )

async function createKey(exchange: AppExchange): Promise<void> {
  const { request, app, by, runtime } = exchange
  const parsed = newApiKeyBody.safeParse({ name: formField(request, 'name') ?? '' })
  if (!parsed.success)
    return showKeys(exchange, {
      status: 400,
      alert: problemOf('Name', parsed.error),
      name: formField(request, 'name') ?? '',
    })
  let apiKey: string
  try {
    apiKey = (await createApiKey({ appId: app._id, ...parsed.data, by, runtime })).apiKey
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'too_many_keys') throw error
    return showKeys(exchange, {
      status: error.status,
      alert: 'There is no room for another key. Revoke those that nobody uses, and ask the service’s operators.',
      name: parsed.data.name,
    })
  }
  await goTo(exchange, pathOf(exchange), {
    kind: 'status',
    text: `“${parsed.data.name}” is ready to be used.`,
    secret: { name: 'apiKey', value: apiKey },
  })
}

/** Of a form that was opened before somebody else revoked the key. */
const sayRevoked = (exchange: AppExchange, { name }: ApiKey): Promise<void> =>
  goTo(exchange, pathOf(exchange), { kind: 'status', text: `“${name}” was revoked before.` })

/** A key of the app. Throws `not_found`. */
function keyOf({ app, request }: AppExchange): ApiKey {
  const key = app.apiKeys.find(({ id }) => id === request.params['keyId'])
  if (!key) throw new ServiceError('not_found')
  return key
}

async function confirmRevocation(exchange: AppExchange): Promise<void> {
  const key = keyOf(exchange)
  if (key.revokedAt) return sayRevoked(exchange, key)
  sendAppPage(exchange, {
    section: 'keys',
    title: `Revoke “${key.name}”?`,
    body: card({ title: 'Whatever uses this key stops working at once' }, [
      html`<p>${hint(key)}, made ${moment(key.createdAt)} by ${key.createdBy}, last used ${
        key.lastUsedAt ? moment(key.lastUsedAt) : 'never'
      }. A revoked key cannot be brought back.</p>`,
      html`<div class="actions">${form(
        exchange,
        { action: `${pathOf(exchange)}/${key.id}/revoke` },
        html`<button class="button danger">Revoke key</button>`,
      )}<a class="button plain" href="${pathOf(exchange)}">Keep it</a></div>`,
    ]),
  })
}
