import { join } from 'node:path'
import { forPeople } from './announcement.ts'
import type { Service } from './service.ts'

const progress = (message: string): void => void process.stderr.write(`${message}\n`)

const json = process.argv.includes('--json')
const abort = new AbortController()
let service: Service | undefined

async function stop(): Promise<void> {
  if (abort.signal.aborted) return
  abort.abort(new Error('interrupted'))
  // While it still starts, the abort makes `startService` undo what it did; then the end is below.
  if (!service) return
  await service.stop()
  process.exit(0)
}

process.on('SIGINT', () => void stop())
process.on('SIGTERM', () => void stop())
process.on('SIGHUP', () => void stop())

try {
  // Loaded only now, since that takes a second in which a signal must find its handler.
  const { startService } = await import('./service.ts')
  service = await startService({ env: process.env, progress, signal: abort.signal })
} catch (error) {
  if (abort.signal.aborted) process.exit(0)
  progress(`Cannot start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}
const { announcement } = service
const secretsFile = join(process.env['DATA_DIR'] || '.data', 'secrets.json')
process.stdout.write(json ? `${JSON.stringify(announcement)}\n` : forPeople({ announcement, secretsFile }))
