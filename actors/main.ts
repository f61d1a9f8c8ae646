import { runServiceProcess } from '../schemas/service-process.ts'
import { startActors } from './start-actors.ts'

await runServiceProcess({
  kind: 'actors',
  start: async ({ runtime, parts, ...self }) => parts.add(await startActors(runtime, { self })),
})
