import { type Dispatcher, request } from 'undici'
import { type Clock, SECOND } from '../../../core/clock.ts'
import { parseUrl } from '../../../core/parse-url.ts'
import { webhookUrlProblem } from '../../../core/public-address.ts'

/** A logo as it is served. */
export interface Picture {
  type: string
  bytes: Buffer
}

/** A visitor waits for it beside a page that is there already. */
const LIMIT_MS = 5 * SECOND
/** A logo is drawn 32 pixels wide. */
export const MOST_BYTES = 256 * 1_024
const MOST_REDIRECTS = 3

/**
 * Fetches the logo of an app from where the app has it: a public https address, and nothing but a picture. Null where there is none to be had; never
 * throws.
 */
export async function fetchLogo({
  url,
  agent,
  allowPrivate,
  clock,
}: {
  url: string
  agent: Dispatcher
  allowPrivate: boolean
  clock: Clock
}): Promise<Picture | null> {
  const abort = new AbortController()
  const timer = clock.timer(LIMIT_MS, () => abort.abort())
  try {
    let address: string | undefined = url
    for (let hop = 0; hop <= MOST_REDIRECTS && address !== undefined; hop += 1) {
      if (webhookUrlProblem(address, { allowPrivate })) return null
      const answer: Dispatcher.ResponseData = await request(address, {
        dispatcher: agent,
        headers: { accept: 'image/*', 'user-agent': 'ccs-logos' },
        signal: abort.signal,
      })
      if (answer.statusCode === 200) return pictureOf(await readBytes(answer.body), answer.headers['content-type'])
      // A body that is not read to its end says so as an error.
      answer.body.on('error', () => undefined).destroy()
      const { location } = answer.headers
      const isRedirect = answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === 'string'
      address = isRedirect ? parseUrl(location, new URL(address))?.href : undefined
    }
    return null
  } catch {
    return null
  } finally {
    timer.cancel()
  }
}

/** All of a body, or nothing where it is too large. */
async function readBytes(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk as Buffer)
    length += (chunk as Buffer).length
    if (length > MOST_BYTES) return Buffer.alloc(0)
  }
  return Buffer.concat(chunks)
}

/** How the bytes of each kind begin. */
const KINDS: [type: string, pattern: RegExp][] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF....WEBP/s],
]

/** What it is say its bytes; of a drawing (SVG) its type has to say so too, since it begins like any other text. */
function pictureOf(bytes: Buffer, contentType: unknown): Picture | null {
  const head = bytes.subarray(0, 512).toString('latin1')
  const known = KINDS.find(([, pattern]) => pattern.test(head))
  if (known) return { type: known[0], bytes }
  const isDrawing =
    /^image\/svg\+xml\b/i.test(String(contentType)) && /^\s*(<\?xml|<!--|<svg)/.test(head.replace(/^\xef\xbb\xbf/, ''))
  return isDrawing ? { type: 'image/svg+xml', bytes } : null
}
