import type { Response } from 'express'
import type { NoteContent } from '../../../schemas/member/note.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { PORTAL_PATH } from '../routes.ts'
import { ALERT_ID, buttonForm, form, select } from './parts.ts'
import type { AppExchange, Exchange, MemberExchange } from './visit.ts'

const SECTIONS = [
  ['overview', 'Overview'],
  ['users', 'Users'],
  ['keys', 'API keys'],
  ['webhooks', 'Webhooks'],
  ['team', 'Team'],
  ['activity', 'Activity'],
  ['settings', 'Settings'],
] as const

export type Section = (typeof SECTIONS)[number][0]

export const sectionPath = (appId: string, section: Section): string => `${PORTAL_PATH}/apps/${appId}/${section}`

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

function send(response: Response, status: number, page: Markup): void {
  response.status(status).set({
    'Content-Security-Policy': POLICY,
    // With `no-referrer` browsers would send `Origin: null` with our own forms.
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  })
  response.type('html').send(page.text)
}

interface Head {
  title: string
  /** A further style sheet, by its address. */
  style?: string | undefined
}

const document = (
  { assets }: Pick<Exchange, 'assets'>,
  { title, style }: Head,
  body: Markup,
): Markup => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.path('portal.css')}">
${style !== undefined && html`<link rel="stylesheet" href="${style}">`}
<script type="module" src="${assets.path('portal.js')}"></script>
</head>
${body}
</html>
`

/** A page without navigation: signing in, and what went wrong before an app was known. */
export function sendPlainPage(
  exchange: Pick<Exchange, 'assets' | 'response' | 'runtime'>,
  { status = 200, title, body }: { status?: number; title: string; body: Markup },
): void {
  const page = html`<body class="plain-page"><main id="main" class="sheet">
<p class="product">Developer portal ${environment(exchange)}</p>
${body}
</main></body>`
  send(exchange.response, status, document(exchange, { title: `${title} · Developer portal` }, page))
}

const environment = ({ runtime }: Pick<Exchange, 'runtime'>): Markup =>
  html`<span class="environment">${runtime.config.SERVICE_ENV}</span>`

/** A page of one app, with the navigation beside it. */
export function sendAppPage(
  exchange: AppExchange,
  {
    status = 200,
    section,
    title,
    lead,
    actions,
    body,
    alert,
    style,
  }: {
    status?: number
    section: Section
    title: string
    lead?: Markup | string
    actions?: Markup
    body: Markup | Markup[]
    /** What went wrong with the form that this page answers. */
    alert?: string | undefined
    style?: string
  },
): void {
  const { app } = exchange
  const page = html`<body><a class="skip" href="#main">Skip to content</a>
<div class="frame">
${sidebar(exchange, section)}
<main id="main" class="content">
<header class="page-head"><div><h1>${title}</h1>${lead !== undefined && html`<p class="soft">${lead}</p>`}</div>${actions}</header>
${alert !== undefined && html`<p role="alert" class="notice bad" id="${ALERT_ID}">${alert}</p>`}
${exchange.notes.map(noteMarkup)}
${body}
</main>
${account(exchange)}
</div></body>`
  send(exchange.response, status, document(exchange, { title: `${title} · ${app.name}`, style }, page))
}

const SECRETS = { apiKey: 'API key', appSecret: 'App secret', webhookSecret: 'Signing secret' }

function noteMarkup({ kind, text, secret }: NoteContent): Markup {
  const said = html`<p role="${kind}" class="notice ${kind === 'alert' ? 'bad' : 'good'}">${text}</p>`
  if (!secret) return said
  return html`${said}<section class="card secret" aria-label="${SECRETS[secret.name]}">
<p><strong>${SECRETS[secret.name]}</strong>: copy it now. It is shown this once and cannot be shown again.</p>
<div class="secret-row"><code data-secret="${secret.name}">${secret.value}</code>
<button type="button" class="button plain" data-copy hidden>Copy</button></div>
</section>`
}

const sidebar = (exchange: AppExchange, current: Section): Markup => html`<div class="side">
<header class="side-head"><p class="product">Developer portal ${environment(exchange)}</p>
${appSwitch(exchange)}</header>
<nav aria-label="Sections"><ul>${SECTIONS.map(
  ([section, label]) =>
    html`<li><a href="${sectionPath(exchange.app._id, section)}"${section === current && html` aria-current="page"`}>${label}</a></li>`,
)}</ul></nav>
</div>`

function appSwitch(exchange: AppExchange): Markup {
  const { app, apps } = exchange
  if (apps.length < 2) return html`<p class="app-name" title="${app.name}"><bdi>${app.name}</bdi></p>`
  const options = apps.map(({ appId, name }) => ({ value: appId, label: name }))
  return form(
    exchange,
    { action: `${PORTAL_PATH}/switch`, method: 'get', className: 'switch' },
    html`${select({ label: 'App', name: 'app', value: app._id, options, hideLabel: true })}<button class="button plain small">Switch</button>`,
  )
}

export const account = (
  exchange: Pick<MemberExchange, 'visit' | 'runtime' | 'email'>,
): Markup => html`<section class="account" aria-label="Account">
<p class="soft" title="${exchange.email}">${exchange.email}</p>
<div class="account-actions">
${buttonForm(exchange, { action: `${PORTAL_PATH}/sign-out`, label: 'Sign out', kind: 'small' })}
${buttonForm(exchange, { action: `${PORTAL_PATH}/sign-out-everywhere`, label: 'Sign out everywhere', kind: 'small' })}
</div></section>`
