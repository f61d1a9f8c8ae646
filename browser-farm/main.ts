import { runProcess } from '../core/process.ts'
import { connectDatabase } from '../schemas/database.ts'
import { createIndexes } from '../schemas/indexes.ts'
import { startFarm } from './farm.ts'

await runProcess({
  kind: 'browser-farm',
  start: async (runtime) => {
    const database = await connectDatabase({ url: runtime.config.MONGODB_URL })
    await createIndexes()
    const farm = await startFarm(runtime)
    return {
      ...farm,
      stop: async () => {
        await farm.stop()
        await database.close()
      },
    }
  },
})
