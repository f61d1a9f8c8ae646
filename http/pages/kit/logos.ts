import type { RequestHandler } from 'express'
import { type Clock, HOUR, MINUTE, SECOND } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import { sha256 } from '../../../core/ids.ts'
import { createPublicAgent } from '../../../core/public-agent.ts'
import { type App, Apps } from '../../../schemas/app/app.ts'
import { inTime } from '../../kit/deadline.ts'
import type { HttpRuntime } from '../../kit/runtime.ts'
import { hexColor, NEUTRAL_BRAND, themeOf } from './colors.ts'
import { fetchLogo, MOST_BYTES, type Picture } from './fetch-logo.ts'
import { html } from './html.ts'

/** What a logo is drawn for. */
type Branded = Pick<App, '_id' | 'name' | 'logoUrl' | 'primaryColor'>

export const LOGO_ROUTE = '/logos/:appId/:mark'

/** Changes with the address of the logo, so that browsers may keep what they have. */
const markOf = (logoUrl: string): string => sha256(logoUrl).slice(0, 16)

/** Where an app's logo is served from: our own origin, so that a visitor's browser asks no third party. Null: the app has none. */
export const logoPath = ({ _id, logoUrl }: Pick<App, '_id' | 'logoUrl'>): string | null =>
  logoUrl === undefined ? null : `/assets/logos/${encodeURIComponent(_id)}/${markOf(logoUrl)}`

/** A logo is fetched again after so long; one that was not to be had, soon. */
const FRESH_MS = HOUR
const MISSED_MS = MINUTE
/** With 256 KiB each at most, what one process keeps is 16 MiB. */
const MOST_KEPT = 64
/** Of hosts that hang, each holds a fetch for 5 s. */
const MOST_AT_ONCE = 16

const CONNECT_MS = 5 * SECOND

/** An SVG that is opened by itself is a document of our origin: it runs nothing and loads nothing (GitHub serves files of its users alike). */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/** Serves the logos of apps: fetched by us, kept for an hour, and the first letter of the name where there is none to be had. */
export function serveLogo(runtime: HttpRuntime): RequestHandler<{ appId: string; mark: string }> {
  const pictureOf = createPictures(runtime)
  return async (request, response) => {
    const { appId, mark } = request.params
    const found = Apps.findById(appId).select({ name: 1, logoUrl: 1, primaryColor: 1 }).lean<Branded>()
    const app = await inTime(found.exec(), runtime)
    // An older address of it, or one that nobody gave out.
    if (app?.logoUrl === undefined || markOf(app.logoUrl) !== mark) throw new ServiceError('not_found')
    const picture = await pictureOf(app.logoUrl)
    const seconds = (picture ? FRESH_MS : MISSED_MS) / SECOND
    response.set({ 'Cache-Control': `public, max-age=${seconds}`, 'Content-Security-Policy': POLICY })
    const { type, bytes } = picture ?? letter(app)
    response.type(type).send(bytes)
  }
}

/** Logos by their addresses, of this process. */
function createPictures({ clock, config }: { clock: Clock; config: HttpRuntime['config'] }) {
  const allowPrivate = config.WEBHOOK_PRIVATE_ADDRESSES
  const agent = createPublicAgent({ allowPrivate, connectMs: CONNECT_MS, mostBytes: 2 * MOST_BYTES })
  const kept = new Map<string, { picture: Promise<Picture | null>; until: number }>()
  let underWay = 0
  const fetchOne = async (url: string): Promise<Picture | null> => {
    underWay += 1
    const picture = await fetchLogo({ url, agent, allowPrivate, clock })
    underWay -= 1
    const entry = kept.get(url)
    if (entry) entry.until = clock.elapsed() + (picture ? FRESH_MS : MISSED_MS)
    return picture
  }
  return async (url: string): Promise<Picture | null> => {
    const known = kept.get(url)
    if (known && clock.elapsed() < known.until) return known.picture
    if (underWay >= MOST_AT_ONCE) return null
    const [oldest] = kept.keys()
    if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest)
    kept.delete(url)
    // Whoever comes meanwhile waits for the same.
    const entry = { picture: fetchOne(url), until: Number.POSITIVE_INFINITY }
    kept.set(url, entry)
    return entry.picture
  }
}

/** The first letter of the name, as pages show it without a logo. */
function letter({ name, primaryColor }: Branded): Picture {
  const { ink } = themeOf(hexColor(primaryColor) ?? NEUTRAL_BRAND)
  const drawing = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#fff"/><text x="16" y="22" font-family="system-ui,sans-serif" font-size="17" font-weight="600" text-anchor="middle" fill="#${ink}">${[...name.trim()][0]?.toUpperCase() ?? ''}</text></svg>`
  return { type: 'image/svg+xml', bytes: Buffer.from(drawing.text) }
}
