import { hostname } from 'node:os'
import { runProcess } from '../core/process.ts'
import { loadProfiles } from '../provider/load-profiles.ts'
import { connectDatabase } from '../schemas/database.ts'
import { createHeldClaims } from '../schemas/held-claims.ts'
import { createIndexes } from '../schemas/indexes.ts'
import { registerProcess } from '../schemas/operations/process-record.ts'
import { startRoot } from './root.ts'
import type { ActorRuntime } from './runtime.ts'

await runProcess({
  kind: 'actors',
  start: async (runtime) => {
    const { config, clock, log } = runtime
    const profiles = await loadProfiles(config)
    const database = await connectDatabase({ url: config.MONGODB_URL })
    await createIndexes()
    const held = createHeldClaims({ clock, log })
    const actorRuntime: ActorRuntime = { ...runtime, held, profiles, outboxHint: () => undefined }
    const root = startRoot(actorRuntime)
    const record = registerProcess({ kind: 'actors', host: hostname(), clock, gauges: root.gauges })
    return {
      stop: async () => {
        await root.stop()
        await held.stop()
        await record.stop()
        await database.close()
      },
    }
  },
})
