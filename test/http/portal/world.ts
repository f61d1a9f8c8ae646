import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer as createSocket } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startActors } from '../../../actors/start-actors.ts'
import { createRuntime } from '../../../core/process.ts'
import type { HttpRuntime } from '../../../http/kit/runtime.ts'
import { createServer } from '../../../http/server.ts'
import { type AppSecrets, createApp } from '../../../schemas/app/apps.ts'
import type { Role } from '../../../schemas/member/role.ts'
import { createSignInUrl } from '../../../schemas/member/sign-in.ts'
import { ensureMember } from '../../../schemas/member/team.ts'
import { connectedTestDatabase } from '../../support/database.ts'
import { OPERATOR_KEY } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { newVisitor, type Visitor } from './visitor.ts'

/** The portal with the actors behind it, in this process, on a database and a folder of mails of its own. */
export interface PortalWorld {
  url: string
  runtime: HttpRuntime
  makeApp(appId: string, options?: { name?: string }): Promise<AppSecrets>
  /** Puts somebody on an app's team, as a used invitation does. */
  join(appId: string, email: string, role: Role): Promise<void>
  /** The address of a new sign-in link. */
  link(email: string): Promise<string>
  /** A browser without scripts that nobody has signed in with. */
  visitor(): Visitor
  signedIn(email: string): Promise<Visitor>
  /** The mails to an address, oldest first. */
  mails(to: string): Promise<string[]>
  /** The link in the newest mail to an address, once there are `count`. */
  mailedLink(to: string, count?: number): Promise<string>
  stop(): Promise<void>
}

async function freePort(): Promise<number> {
  const socket = createSocket().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  socket.close()
  await once(socket, 'close')
  return port
}

export async function startPortalWorld({ env = {} }: { env?: Record<string, string> } = {}): Promise<PortalWorld> {
  const database = await connectedTestDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'ccs-portal-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const base = createRuntime({
    kind: 'test',
    env: {
      MONGODB_URL: database.url,
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      BASE_URL: url,
      OPERATOR_KEY,
      DATA_DIR: dataDir,
      PROVIDER_SITE: 'http://127.0.0.1:9',
      WEBHOOK_PRIVATE_ADDRESSES: 'true',
      TIME_SCALE: '1000',
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
      ...env,
    },
  })
  const actors = await startActors(base)
  const { runtime } = actors
  const { server } = await createServer(runtime)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { keyring } = runtime
  const link = (email: string) => createSignInUrl({ email, keyring, baseUrl: url, now: new Date() })
  const visitor = () => newVisitor(url)
  const mails = async (to: string): Promise<string[]> => {
    const names = await readdir(join(dataDir, 'mails')).catch(() => [])
    const paths = names.filter((name) => name.endsWith('.eml')).map((name) => join(dataDir, 'mails', name))
    const written = await Promise.all(
      paths.map(async (path) => ({ text: await readFile(path, 'utf8'), at: (await stat(path)).mtimeMs })),
    )
    // In the order in which they were written: their own dates have seconds only.
    return written
      .filter(({ text }) => text.includes(`\r\nTo: ${to}\r\n`))
      .sort((a, b) => a.at - b.at)
      .map(({ text }) => text)
  }
  return {
    url,
    runtime,
    makeApp: (appId, { name = appId } = {}) =>
      createApp({ appId, name, contactEmail: `${appId}@example.test`, keyring, now: new Date(), createdBy: 'test' }),
    join: (appId, email, role) => ensureMember({ appId, email, role, now: new Date() }),
    link,
    visitor,
    signedIn: async (email) => {
      const person = visitor()
      await person.signIn(await link(email))
      return person
    },
    mails,
    mailedLink: async (to, count = 1) => {
      const mail = await until(`mail ${count} to ${to}`, async () => (await mails(to))[count - 1])
      const [address] = /^http\S+$/m.exec(mail) ?? []
      if (!address) throw new Error('the mail has no link on a line of its own')
      return address
    },
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await actors.stop()
      await database.stop()
      await rm(dataDir, { recursive: true })
    },
  }
}
