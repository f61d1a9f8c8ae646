import { runServiceProcess } from '../schemas/service-process.ts'
import { startHttp } from './start-http.ts'

await runServiceProcess({ kind: 'http', start: startHttp })
