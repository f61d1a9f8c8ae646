import type { Response } from 'express'
import { parseUrl } from '../../../core/parse-url.ts'
import type { App } from '../../../schemas/app/app.ts'
import type { Assets } from './assets.ts'
import { hexColor, NEUTRAL_BRAND } from './colors.ts'
import { html, type Markup } from './html.ts'
import type { Texts } from './texts/en.ts'
import { DEFAULT_TEXTS } from './texts/languages.ts'

/** What a hosted page shows of the app that it stands for; absent where no app is known. */
type Branding = Pick<App, 'name' | 'logoUrl' | 'primaryColor'>

interface PageOptions {
  assets: Assets
  /** The language of the page; English unless it has others. */
  texts?: Pick<Texts, 'language' | 'direction'>
  branding?: Branding | undefined
  title: string
  /** What stands at the right of the header. */
  aside?: Markup
  body: Markup
  script?: string
  /** A style sheet of this page's own, after the common one. */
  style?: string
}

/** Sends a page under the app's name, logo and colour. Nothing in it comes from anywhere but here and the logo's host. */
export function sendPage(response: Response, status: number, { branding, ...page }: PageOptions): void {
  const logo = logoOf(branding)
  response.status(status).set({
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      // 'self' covers the WebSocket of our own origin too.
      "connect-src 'self'",
      `img-src 'self' data:${logo ? ` ${logo.origin}` : ''}`,
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  })
  response.type('html').send(document({ ...page, branding, logo }).text)
}

function document({
  assets,
  texts = DEFAULT_TEXTS,
  branding,
  logo,
  title,
  aside,
  body,
  script,
  style,
}: PageOptions & { logo: URL | null }): Markup {
  const color = hexColor(branding?.primaryColor) ?? NEUTRAL_BRAND
  return html`<!doctype html>
<html lang="${texts.language}" dir="${texts.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="robots" content="noindex">
<title>${branding ? `${title} · ${branding.name}` : title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/theme-${color}.css">
<link rel="stylesheet" href="${assets.path('pages.css')}">
${style && html`<link rel="stylesheet" href="${assets.path(style)}">`}
${script && html`<script type="module" src="${assets.path(script)}"></script>`}
</head>
<body>
${
  (branding || aside) &&
  html`<header class="top">
${branding && brand(branding, logo)}
${aside}
</header>`
}
${body}
</body>
</html>
`
}

const brand = ({ name }: Branding, logo: URL | null): Markup => html`<div class="brand">
${
  logo
    ? html`<img class="logo" src="${logo.href}" alt="" width="32" height="32" referrerpolicy="no-referrer">`
    : html`<span class="logo" aria-hidden="true">${[...name.trim()][0]?.toUpperCase() ?? ''}</span>`
}
<bdi class="name">${name}</bdi>
</div>`

/** Where the app's logo lies, if it is an https address. */
function logoOf(branding: Branding | undefined): URL | null {
  const url = branding?.logoUrl ? parseUrl(branding.logoUrl) : null
  return url?.protocol === 'https:' ? url : null
}
