import { Pool } from 'undici'

export interface Load {
  url: string
  path: string
  headers?: Record<string, string>
  /** What every answer has to be. */
  status?: number
}

/** Connections that ask at the same time. */
const AT_ONCE = 8

/** Asks for so long (ms) and returns how many requests a second were answered; an answer of another status is an error. */
export async function requestsPerSecond(
  { url, path, headers = {}, status = 200 }: Load,
  forMs: number,
): Promise<number> {
  const pool = new Pool(url, { connections: AT_ONCE })
  const start = performance.now()
  let answered = 0
  const askOn = async (): Promise<void> => {
    while (performance.now() - start < forMs) {
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers })
      await body.dump({ limit: 64 * 1024 * 1024 })
      if (statusCode !== status) throw new Error(`${path} answers ${statusCode}`)
      answered += 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, askOn))
  const seconds = (performance.now() - start) / 1_000
  await pool.close()
  return answered / seconds
}
