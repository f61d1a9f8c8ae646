import { randomUUID } from 'node:crypto'
import type { Db } from 'mongodb'
import { ACCESS, PORTAL_PATH } from '../../../http/portal/routes.ts'
import type { App } from '../../../schemas/app/app.ts'
import type { Delivery } from '../../../schemas/delivery/delivery.ts'
import { createSignInUrl } from '../../../schemas/member/sign-in.ts'
import { ensureMember, teamOf } from '../../../schemas/member/team.ts'
import type { User } from '../../../schemas/user/user.ts'
import type { FarmWorld } from '../../browser-farm/world.ts'
import { newVisitor } from '../../http/portal/visitor.ts'

const OWNER = 'owner@example.test'
const SECOND = 'second@example.test'
const INVITED = 'new@example.test'

interface PortalPass {
  appId: string
  /** Whose data an owner deletes. */
  userRef: string
  world: FarmWorld
  database: Db
  during(step: string): void
}

/** Has an owner ask for every route of the developer portal, those that end the session last. */
export async function passThroughPortal({ appId, userRef, world, database, during }: PortalPass): Promise<void> {
  const { runtime, baseUrl } = world
  const now = new Date()
  await ensureMember({ appId, email: OWNER, role: 'owner', now })
  await ensureMember({ appId, email: SECOND, role: 'developer', now })
  const visitor = newVisitor(baseUrl)
  const signIn = async () =>
    visitor.signIn(await createSignInUrl({ email: OWNER, keyring: runtime.keyring, baseUrl, now: new Date() }))
  await signIn()

  const app = await database.collection<App>('apps').findOne({ _id: appId })
  const fields = {
    name: 'x',
    email: INVITED,
    role: 'developer',
    appName: 'Shop',
    contactEmail: OWNER,
    webhookUrl: app?.webhookUrl ?? '',
    hours: '1',
    confirmation: userRef,
  }
  const isEnd = (route: string) => Number(route.startsWith('POST /sign-out'))
  const routes = Object.keys(ACCESS).sort((a, b) => isEnd(a) - isEnd(b))
  for (const route of routes) {
    during(`${route} of the portal`)
    const team = await teamOf(appId)
    const known: Record<string, string | undefined> = {
      appId,
      userId: (await database.collection<User>('users').findOne({ appId, userRef }))?._id,
      deliveryId: (await database.collection<Delivery>('deliveries').findOne({ appId }))?._id,
      keyId: (await database.collection<App>('apps').findOne({ _id: appId }))?.apiKeys.at(-1)?.id,
      invitationId: team.invitations[0]?.id,
      memberId: team.members.find(({ email }) => email === SECOND)?.id,
    }
    const [method, pattern = ''] = route.split(' ')
    const path = `${PORTAL_PATH}${pattern.replace(/:(\w+)/g, (_, name: string) => known[name] ?? randomUUID())}`
    const page = method === 'GET' ? await visitor.get(path) : await visitor.post(path, fields)
    if (page.status >= 500) throw new Error(`${route}: ${page.status} ${page.text}`)
    if (isEnd(route)) await signIn()
  }
  for (const query of ['q=ada', 'status=active', 'state=dropped', 'event=data.imported', 'before=x', 'page=2'])
    for (const section of ['users', 'webhooks', 'activity']) {
      during(`GET /apps/:appId/${section}?${query} of the portal`)
      await visitor.get(`${PORTAL_PATH}/apps/${appId}/${section}?${query}`)
    }
}
