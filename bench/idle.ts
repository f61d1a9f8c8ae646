import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { printLimit } from './row.ts'
import { usageBelow } from './support/usage.ts'

/** What `npm start` takes of the machine while nobody uses it: its processes, the database that it starts, and the browser that waits for a visitor. */
const SETTLE_MS = 60_000
const LOOK_MS = 20_000
const MOST = { mib: 600, load: 0.1, readyS: 10 }

const dataDir = await mkdtemp(join(tmpdir(), 'ccs-bench-'))
const begin = performance.now()
const service = spawn(process.execPath, ['start/bootstrap.js', 'start', '--json'], {
  env: { ...process.env, PORT: '0', DATA_DIR: dataDir, MONGODB_URL: '', LOG_LEVEL: 'error' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
await once(service.stdout, 'data')
const readyMs = performance.now() - begin
await wait(SETTLE_MS)
const before = await usageBelow(process.pid)
await wait(LOOK_MS)
const { mib, processes, processorSeconds } = await usageBelow(process.pid)
const load = (processorSeconds - before.processorSeconds) / (LOOK_MS / 1_000)
service.kill('SIGTERM')
await once(service, 'exit')
await rm(dataDir, { recursive: true, force: true })

printLimit({ what: `all of ${processes} processes at rest, PSS`, value: mib, most: MOST.mib, unit: 'MiB' })
printLimit({ what: 'the same, of a core', value: load, most: MOST.load, unit: '' })
printLimit({
  what: 'npm start until it is ready, with nothing there yet',
  value: readyMs / 1_000,
  most: MOST.readyS,
  unit: 's',
})
