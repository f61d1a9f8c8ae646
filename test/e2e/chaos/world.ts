import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { type Database, startDatabase } from '../../../start/set-up/database/start-database.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../../support/proxy.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Service, startService } from '../../support/service.ts'

/** As long an hour lasts as a hosted login may take here: a minute. */
const TIME_SCALE = '60'
const DATABASE_LOG_CHARACTERS = 20_000

/** The whole service as `npm start` runs it, on a database of its own behind a proxy; all of it can be hurt. */
export interface ChaosWorld {
  service: Service
  database: Database
  proxy: DatabaseProxy
  receiver: Receiver
  /** The last lines that the database's own processes wrote. */
  databaseLog(): Promise<string>
  /** Straight to the database. */
  client: MongoClient
  stop(): Promise<void>
}

export async function startChaosWorld({ note }: { note(text: string): void }): Promise<ChaosWorld> {
  const stops: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const each of stops.toReversed()) await each()
  }
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'ccs-chaos-'))
    stops.push(() => rm(dataDir, { recursive: true, force: true }))
    const { MONGODB_URL: _external, ...env } = process.env
    const database = await startDatabase({ dataDir, env, progress: note })
    stops.push(database.stop)
    const proxy = await startDatabaseProxy(database.url('chaos'))
    stops.push(proxy.stop)
    const receiver = await startReceiver()
    stops.push(receiver.stop)
    const service = await startService({
      databaseUrl: proxy.url,
      env: { TIME_SCALE, WEBHOOK_URL: receiver.url, HTTP_PROCESSES: '2', ACTOR_PROCESSES: '2' },
    })
    stops.push(service.stop)
    const client = new MongoClient(database.url('chaos'))
    stops.push(() => client.close())
    const databaseLog = async (): Promise<string> => {
      const folder = join(dataDir, 'log')
      const logs = (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8'))
      return (await Promise.all(logs)).map((text) => text.slice(-DATABASE_LOG_CHARACTERS)).join('\n')
    }
    return { service, database, proxy, receiver, client, databaseLog, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
