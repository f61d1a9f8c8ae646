import { runServiceProcess } from '../schemas/service-process.ts'
import { startFarm } from './farm.ts'

await runServiceProcess({ kind: 'browser-farm', start: startFarm })
