import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createProviderClient } from '../../provider/client.ts'
import { type ProviderProfile, sandboxProfile } from '../../provider/profile.ts'
import { fastClock } from './sandbox.ts'

/** A provider of one's own, on a real port, and a client of it. */
export async function withProvider(
  { handler, profile: more = {} }: { handler: RequestListener; profile?: Partial<ProviderProfile> },
  use: (client: ReturnType<typeof createProviderClient>, origin: string) => Promise<void>,
): Promise<void> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const profile = { ...sandboxProfile(origin), ...more }
    const credential = { cookie: 'c', accessToken: 't' }
    await use(createProviderClient({ profile, credential, clock: fastClock }), origin)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
