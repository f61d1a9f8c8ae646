import { ServiceError } from '../../../core/errors.ts'
import { changedAppBody } from '../../../wire/ops-apps.ts'
import { DEFAULT_OVERLAP_S } from '../../../wire/ops-keys.ts'
import { endOverlap, rotateAppSecret } from '../../actions/app-secrets.ts'
import { changeApp } from '../../actions/apps.ts'
import { hexColor, NEUTRAL_BRAND } from '../../pages/kit/colors.ts'
import { formField } from '../../pages/kit/form.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { problemOf } from '../kit/input.ts'
import { sectionPath, sendAppPage } from '../kit/layout.ts'
import { buttonForm, card, field, form, moment } from '../kit/parts.ts'
import type { PortalHandlers } from '../kit/portal-router.ts'
import { goTo } from '../kit/redirect.ts'
import type { AppExchange } from '../kit/visit.ts'
import { overlapping } from './webhooks-view.ts'

type SettingsHandlers = Pick<
  PortalHandlers,
  | 'GET /apps/:appId/settings'
  | 'POST /apps/:appId/settings'
  | 'GET /apps/:appId/settings/rotate'
  | 'POST /apps/:appId/settings/rotate'
  | 'POST /apps/:appId/settings/end-overlap'
>

const LABELS = {
  appName: 'App name',
  logoUrl: 'Logo URL',
  primaryColor: 'Primary colour',
  contactEmail: 'Contact e-mail',
} as const
type Name = keyof typeof LABELS
type Values = Record<Name, string>

const pathOf = ({ app }: AppExchange): string => sectionPath(app._id, 'settings')

export const settingsHandlers: SettingsHandlers = {
  'GET /apps/:appId/settings': (exchange) => showSettings(exchange),
  'POST /apps/:appId/settings': save,
  'GET /apps/:appId/settings/rotate': (exchange) => {
    const path = pathOf(exchange)
    sendAppPage(exchange, {
      section: 'settings',
      title: 'Rotate the app secret?',
      body: card({ title: 'A new secret is made and shown once' }, [
        html`<p>For 24 hours links signed with either secret are taken. Put the new one into your backend in that time; nobody notices.</p>`,
        html`<div class="actions">${form(exchange, { action: `${path}/rotate` }, html`<button class="button primary">Rotate</button>`)}<a class="button plain" href="${path}">Cancel</a></div>`,
      ]),
    })
  },
  'POST /apps/:appId/settings/rotate': async (exchange) => {
    const { app, by, runtime } = exchange
    const value = await rotateAppSecret({
      appId: app._id,
      secret: 'app',
      overlapSeconds: DEFAULT_OVERLAP_S,
      by,
      runtime,
    })
    await goTo(exchange, pathOf(exchange), {
      kind: 'status',
      text: 'The app secret is new. For 24 hours links signed with the old one are taken too.',
      secret: { name: 'appSecret', value },
    })
  },
  'POST /apps/:appId/settings/end-overlap': async (exchange) => {
    const { app, by, runtime } = exchange
    await endOverlap({ appId: app._id, secret: 'app', by, runtime })
    await goTo(exchange, pathOf(exchange), {
      kind: 'status',
      text: 'Links signed with the old secret are refused from now on.',
    })
  },
}

const present = ({ app }: AppExchange): Values => ({
  appName: app.name,
  logoUrl: app.logoUrl ?? '',
  primaryColor: app.primaryColor ?? '',
  contactEmail: app.contactEmail,
})

async function save(exchange: AppExchange): Promise<void> {
  const { request, app, by, runtime } = exchange
  const names = Object.keys(LABELS) as Name[]
  const values = Object.fromEntries(names.map((name) => [name, formField(request, name)?.trim() ?? ''])) as Values
  const parsed = changedAppBody.safeParse({
    ...values,
    logoUrl: values.logoUrl || null,
    primaryColor: values.primaryColor || null,
  })
  if (!parsed.success) {
    const name = parsed.error.issues[0]?.path[0] as Name
    return showSettings(exchange, { values, alert: problemOf(LABELS[name] ?? 'The form', parsed.error) })
  }
  if (parsed.data.logoUrl && !parsed.data.logoUrl.startsWith('https:'))
    return showSettings(exchange, { values, alert: 'Logo URL must begin with https://.' })
  try {
    await changeApp({ appId: app._id, body: parsed.data, by, runtime })
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'invalid_parameter') throw error
    return showSettings(exchange, { values, alert: `${error.values['reason'] ?? 'That cannot be saved'}.` })
  }
  await goTo(exchange, pathOf(exchange), {
    kind: 'status',
    text: 'The settings are saved. Hosted pages show them from now on.',
  })
}

function showSettings(exchange: AppExchange, refused?: { values: Values; alert: string }): void {
  const values = refused?.values ?? present(exchange)
  const owner = exchange.role === 'owner'
  const color = hexColor(values.primaryColor) ?? NEUTRAL_BRAND
  sendAppPage(exchange, {
    ...(refused && { status: 400, alert: refused.alert }),
    section: 'settings',
    title: 'Settings',
    lead: 'How your users see your app on the hosted pages, and the secret that signs their links.',
    style: `/assets/theme-${color}.css`,
    body: [
      owner ? identityForm(exchange, values) : identityFacts(exchange),
      card({ title: 'Preview', text: 'The hosted page under your name and colour.' }, preview(values)),
      secretCard(exchange),
    ],
  })
}

const identityForm = (exchange: AppExchange, values: Values): Markup =>
  card(
    { title: 'App', text: html`App id <code>${exchange.app._id}</code>` },
    form(exchange, { action: pathOf(exchange), className: 'stack' }, [
      field({ label: LABELS.appName, name: 'appName', value: values.appName, required: true, maxLength: 80 }),
      field({
        label: LABELS.logoUrl,
        name: 'logoUrl',
        type: 'url',
        value: values.logoUrl,
        placeholder: 'https://…',
        hint: 'An https address of a square picture. Leave it empty to show the first letter of the name.',
      }),
      field({
        label: LABELS.primaryColor,
        name: 'primaryColor',
        value: values.primaryColor,
        placeholder: '#3355ff',
        maxLength: 7,
        hint: 'A hex colour such as #3355ff. Text on it is made readable by itself.',
      }),
      field({
        label: LABELS.contactEmail,
        name: 'contactEmail',
        type: 'email',
        value: values.contactEmail,
        required: true,
        hint: 'Deprecations are announced there.',
      }),
      html`<button class="button primary">Save</button>`,
    ]),
  )

const identityFacts = ({ app }: AppExchange): Markup =>
  card(
    { title: 'App', text: 'Owners can change this.' },
    html`<dl class="facts">
<div><dt>App id</dt><dd class="mono">${app._id}</dd></div>
<div><dt>${LABELS.appName}</dt><dd>${app.name}</dd></div>
<div><dt>${LABELS.logoUrl}</dt><dd>${app.logoUrl ?? 'None'}</dd></div>
<div><dt>${LABELS.primaryColor}</dt><dd>${app.primaryColor ?? 'None'}</dd></div>
<div><dt>${LABELS.contactEmail}</dt><dd>${app.contactEmail}</dd></div>
</dl>`,
  )

const preview = ({ appName }: Values): Markup => html`<div class="preview" data-preview>
<div class="preview-top"><span class="preview-logo" aria-hidden="true" data-preview-letter>${[...appName.trim()][0]?.toUpperCase() ?? ''}</span><span class="preview-name" data-preview-name>${appName}</span></div>
<div class="preview-body"><p>Sign in at your assistant to connect it.</p><span class="preview-button">Continue</span></div>
</div>`

function secretCard(exchange: AppExchange): Markup {
  const { app, role, runtime } = exchange
  const path = pathOf(exchange)
  const [current] = app.linkSecrets
  const old = overlapping(app.linkSecrets, runtime.clock.now())[0]
  return card(
    {
      title: 'App secret',
      text: 'Your backend signs connect and manage links with it, and nothing else.',
      aside:
        role === 'owner'
          ? html`<div class="actions">${old && buttonForm(exchange, { action: `${path}/end-overlap`, label: 'End the old one now' })}${buttonForm(
              exchange,
              { action: `${path}/rotate`, method: 'get', label: 'Rotate app secret' },
            )}</div>`
          : undefined,
    },
    html`<p>${current && html`The present one was made ${moment(current.createdAt)}.`} ${
      old?.expiresAt && html`The old one is valid until ${moment(old.expiresAt)}.`
    } ${role !== 'owner' && html`<span class="soft">Owners can rotate it.</span>`}</p>`,
  )
}
