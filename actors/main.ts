import { hostname } from 'node:os'
import { runProcess } from '../core/process.ts'
import { connectDatabase } from '../schemas/database.ts'
import { createIndexes } from '../schemas/indexes.ts'
import { registerProcess } from '../schemas/operations/process-record.ts'
import { startActors } from './start-actors.ts'

await runProcess({
  kind: 'actors',
  start: async (runtime) => {
    const { config, clock } = runtime
    const database = await connectDatabase({ url: config.MONGODB_URL })
    await createIndexes()
    const actors = await startActors(runtime)
    const record = registerProcess({ kind: 'actors', host: hostname(), clock, gauges: actors.gauges })
    return {
      stop: async () => {
        await actors.stop()
        await record.stop()
        await database.close()
      },
    }
  },
})
