import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { connectDatabase } from '../../schemas/database.ts'
import { createIndexes } from '../../schemas/indexes.ts'

interface TestDatabase {
  url: string
  drop(): Promise<void>
}

/** A file with the address of a server that a developer keeps running, for a single suite by hand. */
const DEVELOPMENT_FILE = join(tmpdir(), 'dev-db.txt')

function server(): string {
  const given = process.env['TEST_DATABASE_URL'] || process.env['MONGODB_URL']
  const address = given || (existsSync(DEVELOPMENT_FILE) ? readFileSync(DEVELOPMENT_FILE, 'utf8').trim() : '')
  if (!address) throw new Error('TEST_DATABASE_URL: the tests need the address of a database server')
  return address
}

/** An empty database of its own on the server of the tests; `drop` removes it. */
export async function testDatabase(): Promise<TestDatabase> {
  const [, origin = '', query = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(server()) ?? []
  const url = `${origin}/test_${randomUUID().replaceAll('-', '')}${query}`
  return {
    url,
    drop: async () => {
      const client = new MongoClient(url)
      try {
        await client.db().dropDatabase()
      } finally {
        await client.close()
      }
    },
  }
}

/** The same with this process connected to it, and every index; `stop` ends both. */
export async function connectedTestDatabase(): Promise<{ url: string; stop(): Promise<void> }> {
  const { url, drop } = await testDatabase()
  const connection = await connectDatabase({ url })
  await createIndexes()
  return {
    url,
    stop: async () => {
      await connection.close()
      await drop()
    },
  }
}
