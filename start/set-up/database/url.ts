const PARTS = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/([^?]*))?(\?.*)?$/

/**
 * The address of one database on a server. A database name that the address already carries wins: whoever wrote it meant it.
 * Not parsed as a URL, since `mongodb://a,b,c/` is none.
 */
export function withDatabaseName(address: string, name: string): string {
  const [, server, given, query = ''] = PARTS.exec(address) ?? []
  if (server === undefined) throw new Error('MONGODB_URL must begin with mongodb:// or mongodb+srv://')
  return `${server}/${given || name}${query}`
}
