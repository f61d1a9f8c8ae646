/** docs/provider.md, Session: a longer session cookie is split over `<name>.0`, `<name>.1`, … */
const COOKIE_PART_BYTES = 3_800
/** A first part shorter than this was not cut by a size limit, so its length says nothing about the parts after it. */
const SMALLEST_CUT_PART = 3_000

interface NamedCookie {
  name: string
  value: string
}

/**
 * The session credential among a site's cookies, or null when there is none. The unsplit name wins; else the parts from
 * 0 on without a gap. A part shorter than a full first one is the last of its value: what follows is left over from an
 * earlier, longer value.
 */
export function joinCookie({ name, cookies }: { name: string; cookies: Iterable<NamedCookie> }): string | null {
  const jar = new Map<string, string>()
  for (const cookie of cookies) if (cookie.value !== '') jar.set(cookie.name, cookie.value)
  return jar.get(name) ?? joinParts(name, jar)
}

/** The cookies to send for a credential: itself, or its parts when it is longer than 3,800 bytes. */
export function splitCookie({ name, value }: NamedCookie): NamedCookie[] {
  if (value.length <= COOKIE_PART_BYTES) return [{ name, value }]
  const count = Math.ceil(value.length / COOKIE_PART_BYTES)
  return Array.from({ length: count }, (_, index) => ({
    name: `${name}.${index}`,
    value: value.slice(index * COOKIE_PART_BYTES, (index + 1) * COOKIE_PART_BYTES),
  }))
}

/** A credential as the value of a `Cookie` request header. */
export function cookieHeader(cookie: NamedCookie): string {
  return splitCookie(cookie)
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ')
}

/** Whether a value can be sent as a cookie: visible ASCII without the separators (so its length is its bytes). */
export function isCookieValue(value: string): boolean {
  return /^[\x21-\x3a\x3c-\x7e]+$/.test(value)
}

/**
 * The credential after a response with these `Set-Cookie` headers: the new value, split or not, or `current` where the
 * response sets none. A deletion alone changes nothing: the session call, not a header, decides whether a session ended.
 */
export function applySetCookies({
  name,
  current,
  setCookies,
  now,
}: {
  name: string
  current: string
  setCookies: string[]
  now: Date
}): string {
  const set = new Map<string, string>()
  for (const header of setCookies) {
    const cookie = parseSetCookie(header, now)
    if (cookie === null || !isPartOf(name, cookie.name)) continue
    if (cookie.deleted) set.delete(cookie.name)
    else if (isCookieValue(cookie.value)) set.set(cookie.name, cookie.value)
  }
  if (set.size === 0) return current
  const whole = set.get(name)
  if (whole !== undefined) return whole
  // A rotation normally sets every part; where it sets some, the rest stays as it is.
  if (set.size === 1 || !set.has(`${name}.0`)) {
    for (const part of splitCookie({ name, value: current })) {
      if (part.name !== name && !set.has(part.name)) set.set(part.name, part.value)
    }
  }
  return joinParts(name, set) ?? current
}

function joinParts(name: string, jar: Map<string, string>): string | null {
  const first = jar.get(`${name}.0`)
  if (first === undefined) return null
  let joined = ''
  for (let index = 0; ; index++) {
    const part = jar.get(`${name}.${index}`)
    if (part === undefined) return joined
    joined += part
    if (first.length >= SMALLEST_CUT_PART && part.length < first.length) return joined
  }
}

function isPartOf(name: string, cookieName: string): boolean {
  return cookieName === name || (cookieName.startsWith(`${name}.`) && /^\d+$/.test(cookieName.slice(name.length + 1)))
}

/** RFC 6265, 5.2: `Max-Age` goes before `Expires`; an empty value is what sites use to clear a cookie. */
function parseSetCookie(header: string, now: Date): (NamedCookie & { deleted: boolean }) | null {
  const [pair = '', ...attributes] = header.split(';')
  const equals = pair.indexOf('=')
  if (equals < 1) return null
  const read = (wanted: string): string | undefined => {
    const found = attributes.find((attribute) => attribute.split('=', 1)[0]?.trim().toLowerCase() === wanted)
    return found?.slice(found.indexOf('=') + 1).trim()
  }
  const name = pair.slice(0, equals).trim()
  const value = pair.slice(equals + 1).trim()
  const maxAge = read('max-age')
  const ended =
    maxAge !== undefined && /^-?\d+$/.test(maxAge)
      ? Number(maxAge) <= 0
      : Date.parse(read('expires') ?? '') <= now.getTime()
  return { name, value, deleted: value === '' || ended }
}
