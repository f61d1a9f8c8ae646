import { type Db, MongoClient } from 'mongodb'
import { Agent } from 'undici'
import { testDatabase } from '../../test/support/database.ts'

/** What a contestant delivers, and how many posts it may have under way. */
export interface Task {
  url: string
  bodies: string[]
  atOnce: number
}

/** Runs a contestant whose jobs lie in a database, with one of its own and an agent to post with. */
export async function onOwnDatabase<T>(run: (own: { db: Db; agent: Agent }) => Promise<T>): Promise<T> {
  const database = await testDatabase()
  const client = await MongoClient.connect(database.url, { maxPoolSize: 50, writeConcern: { w: 'majority' } })
  const agent = new Agent()
  try {
    return await run({ db: client.db(), agent })
  } finally {
    await agent.close()
    await client.close()
    await database.drop()
  }
}
