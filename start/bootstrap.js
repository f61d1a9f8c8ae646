// The only file that runs before anything is installed: plain JavaScript, no dependencies. It installs what package-lock.json
// names where that is missing, compiles the service where that is to start, then goes on in this same process. Everything it says goes to stderr.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const PROGRAMS = {
  start: 'start/main.js',
  tui: 'tui/main.ts',
  doctor: 'start/doctor.ts',
  app: 'start/app.ts',
  test: 'test/main.ts',
  bench: 'bench/main.ts',
}
const NEEDED_NODE = [20, 19]

const say = (message) => process.stderr.write(`${message}\n`)

const name = process.argv[2]

/** Until the program itself listens for a signal, the signal ends this process: for the service that is a clean end. */
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = true
    if (process.listenerCount(signal) === 1) endInterrupted()
  })
}
const endInterrupted = () => process.exit(name === 'start' ? 0 : 130)

function readLock(path) {
  try {
    return JSON.parse(readFileSync(join(ROOT, path), 'utf8')).packages
  } catch {
    return undefined
  }
}

/** Contents are compared, not times: a checkout makes the lock file new without changing it. */
function isInstalled() {
  const wanted = readLock('package-lock.json')
  const present = readLock('node_modules/.package-lock.json')
  if (!wanted || !present) return false
  return Object.entries(wanted).every(([path, { version, optional, peer }]) => {
    if (!path.startsWith('node_modules/') || optional || peer) return true
    return present[path] !== undefined && present[path].version === version
  })
}

function install() {
  say('Installing packages (npm ci)')
  const npm = process.env.npm_execpath
  const command = npm ? [process.execPath, npm] : ['npm']
  return run('npm ci', [...command, 'ci', '--include=dev', '--loglevel=error'])
}

/** Runs a command to its end, which a signal to this process hastens. */
function run(title, [command, ...args]) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2] })
  const forward = (signal) => child.kill(signal)
  process.on('SIGTERM', forward).on('SIGINT', forward)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (status, signal) => {
      process.off('SIGTERM', forward).off('SIGINT', forward)
      if (status === 0) resolve()
      else reject(new Error(`${title} ended with ${signal ?? `status ${status}`}`))
    })
  })
}

/** The service itself runs compiled, the other programs as they are. Returns the file to go on with. */
async function prepared(program) {
  if (name !== 'start') {
    const { register } = await import('tsx/esm/api')
    register()
    return join(ROOT, program)
  }
  const folder = resolve(process.env.DATA_DIR || '.data', 'build', String(process.pid))
  await run('The compiler', [process.execPath, '--import', 'tsx', join(ROOT, 'start/build.ts'), folder])
  process.setSourceMapsEnabled(true)
  return join(folder, program)
}

const [major, minor] = process.versions.node.split('.').map(Number)
const program = PROGRAMS[name]
if (major < NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor < NEEDED_NODE[1])) {
  say(`Node ${NEEDED_NODE.join('.')} or newer is needed; this is ${process.versions.node}`)
  process.exit(1)
}
if (!program) {
  say(`Usage: node start/bootstrap.js ${Object.keys(PROGRAMS).join('|')} [arguments]`)
  process.exit(1)
}
let file
try {
  if (!isInstalled()) await install()
  file = await prepared(program)
} catch (error) {
  if (interrupted) endInterrupted()
  say(`Cannot prepare ${name}: ${error.message}`)
  process.exit(1)
}
process.argv.splice(1, 2, file)
await import(pathToFileURL(file).href)
