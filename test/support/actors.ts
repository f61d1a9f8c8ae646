import type { ActorRuntime } from '../../actors/runtime.ts'
import { startActors } from '../../actors/start-actors.ts'
import { systemClock } from '../../core/clock.ts'
import { createKeyring, type Keyring } from '../../core/envelope.ts'
import { newId } from '../../core/ids.ts'
import { createRuntime } from '../../core/process.ts'
import { createApp } from '../../schemas/app/apps.ts'
import type { Command, CommandResults } from '../../schemas/command/command.ts'
import { userTarget } from '../../schemas/command/command.ts'
import { awaitCommand, writeCommand } from '../../schemas/command/commands.ts'
import { buildConnectCommand } from '../../schemas/command/connect-command.ts'
import type { LiveActor } from '../../schemas/operations/actor-snapshot.ts'
import { ensureUser, generationOf } from '../../schemas/user/user.ts'
import { type RunningSite, startSite } from '../provider/sandbox.ts'
import { connectedTestDatabase } from './database.ts'
import { type Receiver, startReceiver } from './receiver.ts'

export const COMMAND_TIMEOUT_MS = 45_000

/** The actors of one process in this one, on a real database and the real sandbox provider. */
export interface ActorWorld {
  runtime: ActorRuntime
  site: RunningSite
  /** Every app's webhook endpoint. */
  receiver: Receiver
  keyring: Keyring
  appId: string
  /** As a finished login hands it over: writes the `connect` command and waits for its end. */
  connect(options: {
    userRef: string
    email: string
    cookie?: string
    appId?: string
    /** The number of a flow that began earlier; the user's present one by default. */
    generation?: number
  }): Promise<Command<'connect'>>
  purge(
    target: { userRef: string; appId?: string } | { connectionId: string; userRef: string; appId?: string },
    id?: string,
  ): Promise<CommandResults['purge'] | null>
  makeApp(appId: string): Promise<void>
  actors(): LiveActor[]
  stop(): Promise<void>
}

/** Takes over the site that it is given, and stops it at the end. */
export async function startActorWorld({
  timeScale = 1000,
  site: given,
  syncsAtOnce,
}: {
  timeScale?: number
  site?: RunningSite
  /** Slots for syncs that the process has. */
  syncsAtOnce?: number
} = {}): Promise<ActorWorld> {
  const site = given ?? (await startSite())
  const database = await connectedTestDatabase()
  const masterKey = Buffer.alloc(32, 7)
  const runtime = createRuntime({
    kind: 'test',
    env: {
      MONGODB_URL: database.url,
      MASTER_KEY: masterKey.toString('base64'),
      BASE_URL: 'http://127.0.0.1:1',
      OPERATOR_KEY: 'operator-key-of-the-tests-0123456789',
      TIME_SCALE: String(timeScale),
      PROVIDER_SITE: site.url,
      WEBHOOK_PRIVATE_ADDRESSES: 'true',
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
    },
  })
  const actors = await startActors(runtime, syncsAtOnce === undefined ? {} : { syncsAtOnce })
  const keyring = createKeyring([masterKey])
  const clock = systemClock()
  const appId = 'app-one'
  const receiver = await startReceiver()
  const makeApp = async (id: string) => {
    await createApp({
      appId: id,
      name: id,
      contactEmail: 'x@example.test',
      webhookUrl: receiver.url,
      keyring,
      now: clock.now(),
      createdBy: 'test',
    })
  }
  await makeApp(appId)

  return {
    runtime: actors.runtime,
    site,
    receiver,
    keyring,
    appId,
    makeApp,
    connect: async ({ userRef, email, cookie, generation, appId: app = appId }) => {
      const value = cookie ?? (await site.signIn(email))
      const session = await site.client({ cookie: value }).session()
      if (!session.usable) throw new Error(session.reason)
      const user = await ensureUser({ appId: app, userRef, now: clock.now() })
      const connectionId = newId()
      const { accessToken, account } = session
      const id = await writeCommand(
        buildConnectCommand({
          connectionId,
          appId: app,
          by: { kind: 'link', id: 'test' },
          userId: user._id,
          userRef,
          generation: generation ?? generationOf(user),
          provider: 'sandbox-assistant',
          credential: { cookie: value, accessToken, account },
          profile: '{"cookies":[],"origins":[]}',
          keyring,
          now: clock.now(),
        }),
      )
      const command = await awaitCommand<'connect'>({ id, clock, timeoutMs: COMMAND_TIMEOUT_MS })
      if (!command) throw new Error('the connect command did not end')
      return command
    },
    purge: async (target, id) => {
      const { appId: app = appId } = target
      const user = await ensureUser({ appId: app, userRef: target.userRef, now: clock.now() })
      const args =
        'connectionId' in target
          ? { connectionId: target.connectionId, userRef: target.userRef }
          : { userId: user._id, userRef: target.userRef }
      const commandId = await writeCommand({
        ...(id && { id }),
        kind: 'purge',
        appId: app,
        target: 'connectionId' in target ? target.connectionId : userTarget(user._id),
        by: { kind: 'api-key', id: 'test' },
        now: clock.now(),
        args,
      })
      const command = await awaitCommand<'purge'>({ id: commandId, clock, timeoutMs: COMMAND_TIMEOUT_MS })
      return command?.result ?? null
    },
    actors: actors.actors,
    stop: async () => {
      await actors.stop()
      await database.stop()
      await site.stop()
      await receiver.stop()
    },
  }
}
