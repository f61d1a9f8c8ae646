import { join } from 'node:path'
import { systemClock } from '../core/clock.ts'
import { readConfig } from '../core/config.ts'
import type { Announcement } from './announcement.ts'
import { type Child, type ChildOptions, keepChild } from './child.ts'
import { environmentFor } from './child-environment.ts'
import { ACTORS_ARGUMENTS, FARM_MEMORY, NODE_ARGUMENTS, programFile } from './node-arguments.ts'
import { announce, childEnvironment, makePlan, partnerEnvironment, siteEnvironment } from './plan.ts'
import type { Prepared } from './prepare-data.ts'
import { findBrowser } from './set-up/browser.ts'
import { type Database, startDatabase } from './set-up/database/start-database.ts'
import { runCommand } from './set-up/run-command.ts'

export interface Service {
  announcement: Announcement
  stop(): Promise<void>
}

/** Starts everything that `npm start` stands for; what did start is stopped again when something else cannot. */
export async function startService({
  env,
  progress,
  signal,
}: {
  env: Record<string, string | undefined>
  progress: (message: string) => void
  signal: AbortSignal
}): Promise<Service> {
  const clock = systemClock()
  const plan = await makePlan({ env, clock })
  const { settings } = plan
  const shared = childEnvironment({ env, plan })
  // Before anything is downloaded: one clear line about a wrong value. The database's address is not known yet.
  readConfig({ ...shared, MONGODB_URL: env['MONGODB_URL'] || 'mongodb://127.0.0.1/' })

  const children: Child[] = []
  let database: Database | undefined
  const stopping = new AbortController()
  const stop = async (): Promise<void> => {
    stopping.abort()
    await Promise.all(children.map((child) => child.stop()))
    await database?.stop()
  }
  try {
    const [databaseResult, browserResult] = await Promise.allSettled([
      startDatabase({ dataDir: settings.DATA_DIR, progress, clock, env, signal }),
      findBrowser({ log: progress, chromiumPath: env['CHROMIUM_PATH'], signal }),
    ])
    if (databaseResult.status === 'fulfilled') database = databaseResult.value
    if (databaseResult.status === 'rejected') throw databaseResult.reason
    if (browserResult.status === 'rejected') throw browserResult.reason
    signal.throwIfAborted()
    const databaseUrl = databaseResult.value.url(`ccs_${settings.SERVICE_ENV}`)
    const common = { ...shared, MONGODB_URL: databaseUrl, CHROMIUM_PATH: browserResult.value }
    const keep = (options: Pick<ChildOptions, 'name' | 'program'> & Partial<ChildOptions>): Child => {
      const child = keepChild({ env: environmentFor(options.name, common), clock, progress, ...options })
      children.push(child)
      return child
    }
    const many = (count: number, options: Parameters<typeof keep>[0]): Child[] =>
      Array.from({ length: count }, () => keep(options))
    const http = many(settings.HTTP_PROCESSES, { name: 'http', program: 'http/main', sharesPort: true })
    const actors = many(settings.ACTOR_PROCESSES, {
      name: 'actors',
      program: 'actors/main',
      nodeArguments: ACTORS_ARGUMENTS,
    })
    const farm = many(settings.FARM_PROCESSES, {
      name: 'browser-farm',
      program: 'browser-farm/main',
      env: { ...environmentFor('browser-farm', common), ...FARM_MEMORY },
    })
    // These two stand for other companies: the service's own secrets are not theirs.
    if (plan.runsSite) keep({ name: 'sandbox provider', program: 'sandbox/main', env: siteEnvironment({ env, plan }) })
    if (plan.runsPartner)
      keep({ name: 'example partner', program: 'sdk/example/main', env: partnerEnvironment({ env, plan }) })
    const ready = Promise.all(children.map((child) => child.ready))
    const interrupted = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
    )
    const [, signInUrl] = await Promise.race([
      interrupted,
      Promise.all([
        ready,
        prepareData({
          env: { ...environmentFor('data', common), WEBHOOK_URL: plan.webhookUrl },
          signal: stopping.signal,
        }),
      ]),
    ])
    const pids = (list: Child[]): number[] => list.flatMap(({ pid }) => pid ?? [])
    const processes = { http: pids(http), actors: pids(actors), 'browser-farm': pids(farm) }
    return {
      announcement: announce({ plan, databaseUrl, processes, signInUrl, operatorKey: shared['OPERATOR_KEY'] ?? '' }),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Resolves with a sign-in link of the demo app's owner. */
async function prepareData(options: { env: Record<string, string | undefined>; signal: AbortSignal }): Promise<string> {
  const program = programFile(join(import.meta.dirname, 'prepare-data'))
  const prepared: Prepared = JSON.parse(await runCommand(process.execPath, [...NODE_ARGUMENTS, program], options))
  if ('wrong' in prepared) throw new Error(prepared.wrong)
  return prepared.signInUrl
}
