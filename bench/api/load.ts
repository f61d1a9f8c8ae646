import { Pool } from 'undici'

export interface Load {
  url: string
  /** The path of each request; `number` counts all of them, so that none needs to be like another. */
  path: string | ((number: number) => string)
  /** The headers of each of the connections that ask. */
  headers?: Record<string, string> | ((connection: number) => Record<string, string>)
  /** What every answer has to be. */
  status?: number
  /** What goes on meanwhile; returns how to end it. */
  meanwhile?: () => Promise<() => Promise<void>>
}

/** Connections that ask at the same time. */
export const AT_ONCE = 8

/** Of all loads of this run: what was asked once is asked by none of them again. */
let asked = 0

/** Asks for so long (ms) and returns how many requests a second were answered; an answer of another status is an error. */
export async function requestsPerSecond(
  { url, path, headers = {}, status = 200, meanwhile }: Load,
  forMs: number,
): Promise<number> {
  const end = await meanwhile?.()
  const pools = Array.from({ length: AT_ONCE }, () => new Pool(url, { connections: 1 }))
  const start = performance.now()
  let answered = 0
  const askOn = async (pool: Pool, connection: number): Promise<void> => {
    const own = typeof headers === 'function' ? headers(connection) : headers
    while (performance.now() - start < forMs) {
      const asks = typeof path === 'function' ? path(asked++) : path
      const { statusCode, body } = await pool.request({ method: 'GET', path: asks, headers: own })
      await body.dump({ limit: 64 * 1024 * 1024 })
      if (statusCode !== status) throw new Error(`${asks} answers ${statusCode}`)
      answered += 1
    }
  }
  await Promise.all(pools.map(askOn))
  const seconds = (performance.now() - start) / 1_000
  await Promise.all(pools.map((pool) => pool.close()))
  await end?.()
  return answered / seconds
}
