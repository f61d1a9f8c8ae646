/**
 * An address as a URL; null where it is none. Neither `URL.parse`, which the older of the supported Node versions lack, nor
 * `URL.canParse`: in Node 20, once it is called often, it refuses what is not ASCII.
 */
export function parseUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}
