/** The app's colour as pages use it, each part readable on what it stands on (WCAG 2, contrast 4.5). */
interface Theme {
  /** As the app gave it, six hexadecimal digits. */
  brand: string
  /** Text on the brand colour. */
  onBrand: string
  /** The brand colour for text and lines on white: itself, or as much darker as it takes. */
  ink: string
}

export const NEUTRAL_BRAND = '334155'
const READABLE = 4.5
/** White or black: one of them always is readable. */
const DARK = '000000'
const DARKEN = 0.9

type Channels = [red: number, green: number, blue: number]

/** Six digits, lower case, or null for what is no hex colour; `#abc` is `aabbcc`. */
export function hexColor(text: string | undefined): string | null {
  const digits = (/^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text?.trim() ?? '')?.[1] ?? '').toLowerCase()
  if (digits === '') return null
  return digits.length === 3 ? digits.replace(/./g, '$&$&') : digits
}

export function themeOf(brand: string): Theme {
  let ink = channels(brand)
  while (contrast(ink, [255, 255, 255]) < READABLE) ink = ink.map((channel) => channel * DARKEN) as Channels
  const white = contrast(channels(brand), [255, 255, 255])
  const dark = contrast(channels(brand), channels(DARK))
  return { brand, onBrand: white >= READABLE || white >= dark ? 'ffffff' : DARK, ink: hex(ink) }
}

const channels = (digits: string): Channels => [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16)) as Channels

const hex = (color: Channels): string =>
  color.map((channel) => Math.floor(channel).toString(16).padStart(2, '0')).join('')

function contrast(a: Channels, b: Channels): number {
  const [lighter = 0, darker = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(color: Channels): number {
  const [red = 0, green = 0, blue = 0] = color.map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
