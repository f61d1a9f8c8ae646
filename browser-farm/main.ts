import { runServiceProcess } from '../schemas/operations/service-process.ts'
import { startFarm } from './farm.ts'

await runServiceProcess({ kind: 'browser-farm', start: startFarm })
