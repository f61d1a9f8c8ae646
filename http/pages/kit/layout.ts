import type { Response } from 'express'
import type { App } from '../../../schemas/app/app.ts'
import type { Assets } from './assets.ts'
import { hexColor, NEUTRAL_BRAND } from './colors.ts'
import { html, type Markup } from './html.ts'
import { logoPath } from './logos.ts'
import type { Texts } from './texts/en.ts'
import { DEFAULT_TEXTS } from './texts/languages.ts'

/** What a hosted page shows of the app that it stands for; absent where no app is known. */
type Branding = Pick<App, '_id' | 'name' | 'logoUrl' | 'primaryColor'>

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

/** Sends a page under the app's name, logo and colour. Nothing in it comes from anywhere but here. */
export function sendPage(response: Response, status: number, { branding, ...page }: PageOptions): void {
  response.status(status).set({
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      // 'self' covers the WebSocket of our own origin too.
      "connect-src 'self'",
      "img-src 'self' data:",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  })
  response.type('html').send(document({ ...page, branding }).text)
}

function document({ assets, texts = DEFAULT_TEXTS, branding, title, aside, body, script, style }: PageOptions): Markup {
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
${branding && brand(branding)}
${aside}
</header>`
}
${body}
</body>
</html>
`
}

function brand(branding: Branding): Markup {
  const { name } = branding
  const logo = logoPath(branding)
  return html`<div class="brand">
${
  logo !== null
    ? html`<img class="logo" src="${logo}" alt="" width="32" height="32">`
    : html`<span class="logo" aria-hidden="true">${[...name.trim()][0]?.toUpperCase() ?? ''}</span>`
}
<bdi class="name">${name}</bdi>
</div>`
}
