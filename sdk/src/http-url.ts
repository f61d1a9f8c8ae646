/** True for an absolute http or https address. (Not `URL.canParse`: in Node 20, once it is called often, it refuses what is not ASCII.) */
export function isHttpUrl(value: string): boolean {
  try {
    return /^https?:$/.test(new URL(value).protocol)
  } catch {
    return false
  }
}
