import { runServiceProcess } from '../schemas/operations/service-process.ts'
import { startHttp } from './start-http.ts'

await runServiceProcess({ kind: 'http', start: startHttp })
