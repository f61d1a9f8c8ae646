import { rm, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../core/config.ts'
import { compile } from '../deploy/compile.ts'
import { ownFolder } from './own-folder.ts'

/**
 * `build.ts <DATA_DIR/build>`: makes what `npm start` runs, where nobody else can exchange it. Compiled once for all of its processes: a process that compiles for itself keeps
 * 40 MiB for that, and starts later. The packages are the project's, wherever the folder lies.
 */
const [, , folder = ''] = process.argv
const target = resolve(folder)
const packages = join(target, 'node_modules')
for (const own of [dirname(target), target]) {
  await ownFolder(own).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
}
await rm(packages, { force: true })
await symlink(resolve('node_modules'), packages, 'dir')
await compile({
  target,
  config: 'start/tsconfig.json',
  folders: ['core', 'wire', 'schemas', 'provider', 'actors', 'browser-farm', 'http', 'sandbox', 'sdk/example'],
  checkTypes: false,
})
