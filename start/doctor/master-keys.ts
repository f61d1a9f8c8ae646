import type { Keyring } from '../../core/envelope.ts'
import { Apps } from '../../schemas/app/app.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { type Finding, fine, leftOut, wrong } from './check.ts'

/** Of connections the newest, and the oldest, whose master key is the likeliest to be forgotten. */
const LOOKED_AT = 500

interface HasKey {
  key?: { masterKeyId: string }
}

/** Whether the master keys that are given are those under which the keys in the database lie. `keyring` is absent where none is given. */
export async function checkMasterKeys(keyring: Keyring | undefined): Promise<Finding> {
  if (!keyring) return leftOut('master key', 'no MASTER_KEY; npm start keeps its own')
  const connections = (order: 1 | -1): Promise<HasKey[]> =>
    Connections.find({ key: trusted({ $exists: true }) })
      .sort({ capturedAt: order })
      .limit(LOOKED_AT)
      .select({ 'key.masterKeyId': 1 })
      .lean<HasKey[]>()
  const apps = Apps.find().select({ 'key.masterKeyId': 1 }).lean<HasKey[]>()
  const looked = (await Promise.all([apps, connections(-1), connections(1)])).flat()
  const ids = new Set(looked.flatMap(({ key }) => key?.masterKeyId ?? []))
  const missing = [...ids].filter((id) => !keyring.knows(id))
  if (missing.length === 0)
    return fine('master key', ids.size === 0 ? 'nothing is encrypted yet' : 'it opens what is encrypted')
  return wrong(
    'master key',
    `what is encrypted under ${missing.join(', ')} opens with none that is given; set MASTER_KEY, or OLD_MASTER_KEYS for earlier ones, in the environment of every process`,
  )
}
