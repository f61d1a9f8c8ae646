/** An address as a URL; null where it is none. (`URL.parse` is missing in the older of the Node versions that are supported.) */
export function parseUrl(text: string, base?: string): URL | null {
  return URL.canParse(text, base) ? new URL(text, base) : null
}
