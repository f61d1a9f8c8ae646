import { mkdir, rm, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { compile } from '../deploy/compile.ts'

/**
 * `build.ts <folder>`: makes what `npm start` runs. Compiled once for all of its processes: a process that compiles for itself keeps
 * 40 MiB for that, and starts later. The packages are the project's, wherever the folder lies.
 */
const [, , folder = ''] = process.argv
const target = resolve(folder)
const packages = join(target, 'node_modules')
await mkdir(target, { recursive: true })
await rm(packages, { force: true })
await symlink(resolve('node_modules'), packages, 'dir')
await compile({
  target,
  config: 'start/tsconfig.json',
  folders: ['core', 'wire', 'schemas', 'provider', 'actors', 'browser-farm', 'http', 'sandbox', 'sdk/example'],
  checkTypes: false,
})
