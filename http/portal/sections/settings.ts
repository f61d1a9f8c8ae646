import type { App } from '../../../schemas/app/app.ts'
import { changedAppBody } from '../../../wire/ops-apps.ts'
import { changeApp } from '../../actions/apps.ts'
import { hexColor, NEUTRAL_BRAND } from '../../pages/kit/colors.ts'
import { formField } from '../../pages/kit/form.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { logoPath } from '../../pages/kit/logos.ts'
import { problemOf } from '../kit/input.ts'
import { sectionPath, sendAppPage } from '../kit/layout.ts'
import { card, field, form, hidden } from '../kit/parts.ts'
import type { PortalHandlers } from '../kit/portal-router.ts'
import { goTo } from '../kit/redirect.ts'
import type { AppExchange } from '../kit/visit.ts'
import { rotationOf } from './rotation.ts'

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
const MAY_BE_EMPTY = new Set<Name>(['logoUrl', 'primaryColor'])

const rotation = rotationOf('app')
const pathOf = ({ app }: AppExchange): string => sectionPath(app._id, 'settings')

export const settingsHandlers: SettingsHandlers = {
  'GET /apps/:appId/settings': (exchange) => showSettings(exchange),
  'POST /apps/:appId/settings': save,
  'GET /apps/:appId/settings/rotate': rotation.ask,
  'POST /apps/:appId/settings/rotate': rotation.rotate,
  'POST /apps/:appId/settings/end-overlap': rotation.endOld,
}

const present = ({ app }: AppExchange): Values => ({
  appName: app.name,
  logoUrl: app.logoUrl ?? '',
  primaryColor: app.primaryColor ?? '',
  contactEmail: app.contactEmail,
})

/** What a hidden field beside each says: the value that the person saw. */
const seenName = (name: Name): string => `seen-${name}`

/** Saves what the person changed. What they left as it was is not written: somebody else may have changed it since the form was opened. */
async function save(exchange: AppExchange): Promise<void> {
  const { request, app, by, runtime } = exchange
  const names = Object.keys(LABELS) as Name[]
  const values = Object.fromEntries(names.map((name) => [name, formField(request, name)?.trim() ?? ''])) as Values
  const refuse = (alert: string, name?: Name) => showSettings(exchange, { values, alert, ...(name && { name }) })
  const changed = names.filter((name) => values[name] !== formField(request, seenName(name)))
  const parsed = changedAppBody.safeParse(
    Object.fromEntries(
      changed.map((name) => [name, MAY_BE_EMPTY.has(name) && values[name] === '' ? null : values[name]]),
    ),
  )
  if (!parsed.success) {
    const name = changed.find((each) => each === parsed.error.issues[0]?.path[0])
    return refuse(problemOf(name ? LABELS[name] : 'The form', parsed.error), name)
  }
  if (parsed.data.logoUrl && !parsed.data.logoUrl.startsWith('https:'))
    return refuse('Logo URL must begin with https://.', 'logoUrl')
  if (changed.length > 0) await changeApp({ appId: app._id, body: parsed.data, by, runtime })
  await goTo(exchange, pathOf(exchange), {
    kind: 'status',
    text: 'The settings are saved. Hosted pages show them from now on.',
  })
}

interface Refused {
  values: Values
  alert: string
  /** The field that is wrong. */
  name?: Name
}

function showSettings(exchange: AppExchange, refused?: Refused): void {
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
      owner ? identityForm(exchange, values, refused?.name) : identityFacts(exchange),
      card({ title: 'Preview', text: 'The hosted page under your name and colour.' }, preview(values, exchange.app)),
      rotation.secretCard(exchange),
    ],
  })
}

const identityForm = (exchange: AppExchange, values: Values, wrong: Name | undefined): Markup =>
  card(
    { title: 'App', text: html`App id <code>${exchange.app._id}</code>` },
    form(exchange, { action: pathOf(exchange), className: 'stack' }, [
      ...Object.entries(present(exchange)).map(([name, value]) => hidden(seenName(name as Name), value)),
      field({
        label: LABELS.appName,
        name: 'appName',
        value: values.appName,
        invalid: wrong === 'appName',
        required: true,
        maxLength: 80,
      }),
      field({
        label: LABELS.logoUrl,
        name: 'logoUrl',
        type: 'url',
        value: values.logoUrl,
        invalid: wrong === 'logoUrl',
        placeholder: 'https://…',
        hint: 'An https address of a square picture of at most 256 KB. It is fetched from there and shown from here. Leave it empty to show the first letter of the name.',
      }),
      field({
        label: LABELS.primaryColor,
        name: 'primaryColor',
        value: values.primaryColor,
        invalid: wrong === 'primaryColor',
        placeholder: '#3355ff',
        maxLength: 7,
        hint: 'A hex colour such as #3355ff. Text on it is made readable by itself.',
      }),
      field({
        label: LABELS.contactEmail,
        name: 'contactEmail',
        type: 'email',
        value: values.contactEmail,
        invalid: wrong === 'contactEmail',
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

function preview({ appName }: Values, app: App): Markup {
  const logo = logoPath(app)
  const picture =
    logo === null
      ? html`<span class="preview-logo" aria-hidden="true" data-preview-letter>${[...appName.trim()][0]?.toUpperCase() ?? ''}</span>`
      : html`<img class="preview-logo" src="${logo}" alt="" width="28" height="28">`
  return html`<div class="preview" data-preview>
<div class="preview-top">${picture}<span class="preview-name" data-preview-name>${appName}</span></div>
<div class="preview-body"><p>Sign in at your assistant to connect it.</p><span class="preview-button">Continue</span></div>
</div>`
}
