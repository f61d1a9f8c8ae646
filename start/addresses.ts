import type { Clock } from '../core/clock.ts'
import { ConfigError } from '../core/config.ts'
import { freePort, listens, preferredPort } from './set-up/database/ports.ts'
import type { Settings } from './settings.ts'

const SITE_OFFSET = 10
const PARTNER_OFFSET = 20

export interface Addresses {
  /** Port of the public listener. */
  port: number
  baseUrl: string
  sitePort: number
  partnerPort: number
}

/** Ports of everything that listens: with `PORT=0` all free ones; else the sandbox provider and the partner lie 10 and 20 above. */
export async function chooseAddresses({ settings, clock }: { settings: Settings; clock: Clock }): Promise<Addresses> {
  const { PORT, HOST } = settings
  const taken =
    PORT !== 0 &&
    (await listens(PORT).then(
      () => true,
      () => false,
    ))
  if (taken) throw new ConfigError(`PORT: ${PORT} is already in use`)
  const port = PORT || (await freePort())
  const near = (offset: number): Promise<number> =>
    PORT === 0 ? freePort() : preferredPort({ wanted: PORT + offset, waitMs: 0, clock })
  const name = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST
  return {
    port,
    baseUrl: (settings.BASE_URL ?? `http://${name}:${port}`).replace(/\/+$/, ''),
    sitePort: await near(SITE_OFFSET),
    partnerPort: await near(PARTNER_OFFSET),
  }
}
