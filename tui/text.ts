import stringWidth from 'string-width'

/** Controls, and what turns or hides the text around it, or is not seen at all (but what makes a sign a picture): harmless as a visible mark. */
const HARMFUL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/gu
/** More marks on one character than any language puts there: they would be drawn over the lines around it. */
const HEAP = /(\p{M}{3})\p{M}+/gu
const MARK = '�'
/** What measures as many columns as characters: ASCII, and the marks that are drawn here. */
const PLAIN = /^[\x20-\x7e·›…↑↓←→▁-█▲▸▼▾◌●◐○✖�]*$/
const graphemes = new Intl.Segmenter()

/** Data as it may be drawn: no character of it reaches the terminal as anything but a picture. */
export const clean = (text: string): string =>
  PLAIN.test(text) ? text : text.replace(HARMFUL, MARK).replace(HEAP, '$1')

/** The same data as JSON that a terminal may show. */
export const cleanJson = (value: unknown): string =>
  JSON.stringify(value).replace(HARMFUL, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  )

const widthOf = (text: string): number => (PLAIN.test(text) ? text.length : stringWidth(text))

/** Text in exactly so many columns: cut with `…`, or filled with spaces. Every line of the screen passes here, and is clean behind it. */
export function fit(given: string, width: number, align: 'left' | 'right' = 'left'): string {
  if (width <= 0) return ''
  const text = clean(given)
  const cut = widthOf(text) > width ? `${head(text, width - 1)}…` : text
  const fill = ' '.repeat(Math.max(0, width - widthOf(cut)))
  return align === 'right' ? `${fill}${cut}` : `${cut}${fill}`
}

function head(text: string, width: number): string {
  if (PLAIN.test(text)) return text.slice(0, width)
  let taken = ''
  let left = width
  for (const { segment } of graphemes.segment(text)) {
    left -= stringWidth(segment)
    if (left < 0) break
    taken += segment
  }
  return taken
}

/** Text over as many lines as it takes, none wider than `width`; words stay whole where they can, and a space at a line's end shows nothing. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let rest = clean(text)
  while (widthOf(rest) > width) {
    const most = head(rest, width) || rest.slice(0, 1)
    const space = rest[most.length] === ' ' ? most.length : most.lastIndexOf(' ')
    const isWhole = space > most.length / 2
    lines.push(isWhole ? rest.slice(0, space) : most)
    rest = rest.slice(isWhole ? space + 1 : most.length)
  }
  return [...lines, rest]
}

const MINUTE_S = 60
const HOUR_S = 60 * MINUTE_S
const DAY_S = 24 * HOUR_S

/** A duration in its two largest units. */
export function duration(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1_000))
  if (s < MINUTE_S) return `${s}s`
  if (s < HOUR_S) return `${Math.floor(s / MINUTE_S)}m${String(s % MINUTE_S).padStart(2, '0')}s`
  if (s < DAY_S) return `${Math.floor(s / HOUR_S)}h${String(Math.floor((s % HOUR_S) / MINUTE_S)).padStart(2, '0')}m`
  return `${Math.floor(s / DAY_S)}d${String(Math.floor((s % DAY_S) / HOUR_S)).padStart(2, '0')}h`
}

const NONE = '-'

/** How long ago; `-` for never. */
export const since = (iso: string | null, now: number): string =>
  iso === null ? NONE : duration(now - Date.parse(iso))

/** How long until then; `now` for what is due. */
export function until(iso: string | null, now: number): string {
  if (iso === null) return NONE
  const left = Date.parse(iso) - now
  return left <= 0 ? 'now' : `in ${duration(left)}`
}

/** So many of them. */
export const counted = (count: number, name: string): string => `${count} ${name}${count === 1 ? '' : 's'}`

const MANY = 100_000

/** A count that never takes more than six characters: beyond 99,999 in thousands, then in millions. */
export const short = (count: number): string => {
  if (count < MANY) return String(count)
  return count < 1_000 * MANY ? `${Math.floor(count / 1_000)}k` : `${Math.floor(count / 1_000_000)}M`
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`

const BARS = '▁▂▃▄▅▆▇█'

/** One bar a value, or one for the highest of several where they are more than fit, the newest last; undefined is a gap. */
export function sparkline(values: (number | undefined)[], width: number): string {
  const each = Math.ceil(values.length / width)
  const empty = each * Math.ceil(values.length / each) - values.length
  const padded = [...Array<undefined>(empty).fill(undefined), ...values]
  const shown = Array.from({ length: padded.length / each }, (_, index) => {
    const present = padded.slice(index * each, (index + 1) * each).flatMap((value) => value ?? [])
    return present.length === 0 ? undefined : Math.max(...present)
  })
  const most = Math.max(1, ...shown.map((value) => value ?? 0))
  const bar = (value: number): string => BARS[Math.min(BARS.length - 1, Math.floor((value / most) * BARS.length))] ?? ''
  return shown.map((value) => (value === undefined ? ' ' : bar(value))).join('')
}

const SHAPES: Record<string, string> = {
  active: '●',
  running: '●',
  working: '●',
  live: '●',
  present: '●',
  delivered: '●',
  connected: '●',
  needs_reauth: '◐',
  starting: '◐',
  draining: '◐',
  checking: '◐',
  failing: '▲',
  waiting: '◌',
  revoked: '○',
  released: '○',
  away: '○',
  dropped: '✖',
  failed: '✖',
  quarantined: '✖',
}

/** How much a status matters, for those who see colours: the word and its shape say the same. */
export type Tone = 'bad' | 'warn' | 'faint'

const TONES: Record<string, Tone> = { '✖': 'bad', '▲': 'warn', '◐': 'warn', '○': 'faint' }

export const toneOf = (word: string): Tone | undefined => TONES[SHAPES[word] ?? '']

/** A status as a shape and a word. */
export const status = (word: string): string => `${SHAPES[word] ?? '·'} ${word}`
