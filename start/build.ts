import { readdir, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ConfigError } from '../core/config.ts'
import { compile } from '../deploy/compile.ts'
import { ownFolder } from './own-folder.ts'

/**
 * `build.ts <DATA_DIR/build/process id>`: makes what `npm start` runs, where nobody else can exchange it. Compiled once for all of its processes: a process that compiles for itself keeps
 * 40 MiB for that, and starts later. Each start has a folder of its own, since a service that runs from another one starts processes from there at any
 * time; what starts that have ended left is deleted. The packages are the project's, wherever the folder lies.
 */
const [, , folder = ''] = process.argv
const target = resolve(folder)
const builds = dirname(target)
for (const own of [dirname(builds), builds]) {
  await ownFolder(own).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
}
for (const name of await readdir(builds)) {
  // What else somebody keeps in a folder of this name is theirs.
  if (!/^\d+$/.test(name) || name === basename(target) || isRunning(Number(name))) continue
  // A compiler that outlives a start that was killed may still write there: the next start deletes it.
  await rm(join(builds, name), { recursive: true, force: true }).catch(() => undefined)
}
await rm(target, { recursive: true, force: true })
await ownFolder(target)
await symlink(resolve('node_modules'), join(target, 'node_modules'), 'dir')
await compile({
  target,
  config: 'start/tsconfig.json',
  folders: ['core', 'wire', 'schemas', 'provider', 'actors', 'browser-farm', 'http', 'sandbox', 'sdk/example'],
  checkTypes: false,
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
