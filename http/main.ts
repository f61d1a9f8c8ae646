import { runProcess } from '../core/process.ts'
import { startHttp } from './start-http.ts'

await runProcess({ kind: 'http', start: startHttp })
