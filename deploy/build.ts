import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { compile } from './compile.ts'

/** `npm run build [folder]`: makes `dist/` anew, which needs the production packages alone. */
const target = resolve(process.argv[2] ?? 'dist')
await rm(target, { recursive: true, force: true })
await compile({
  target,
  config: 'deploy/tsconfig.json',
  folders: ['core', 'wire', 'schemas', 'provider', 'actors', 'browser-farm', 'http', 'tui'],
  checkTypes: true,
}).catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
