import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDatabase } from '../../start/set-up/database/start-database.ts'
import { deliverUnderKills } from '../actors/delivery/killing.ts'

/**
 * `npm run soak:deliveries [rounds]`: 2,000 events under twenty kills, again and again, on `TEST_DATABASE_URL` or a database of its
 * own. Ends with an error at the first event that is lost, sent under a second id, or sent after its sixth failure.
 */
const rounds = Number(process.argv[2] ?? 1)
const dataDir = await mkdtemp(join(tmpdir(), 'ccs-soak-'))
const given = process.env['TEST_DATABASE_URL']
const database = given
  ? undefined
  : await startDatabase({ dataDir, progress: (message) => void process.stderr.write(`${message}\n`) })
process.env['TEST_DATABASE_URL'] = given ?? database?.url('')
try {
  for (let round = 1; round <= rounds; round++) {
    const report = await deliverUnderKills({ events: 2_000, kills: 20, timeScale: 600 })
    process.stdout.write(`${JSON.stringify({ round, ...report })}\n`)
  }
} finally {
  await database?.stop()
  await rm(dataDir, { recursive: true, force: true })
}
