/**
 * Runs the sandbox provider as a process: `PORT` (default 4010), `HOST` (default 127.0.0.1), `TIME_SCALE` (default 1).
 * Tells its parent `{ready: true, url}` when it listens; ends on SIGTERM, SIGINT and when the parent is gone.
 */
import { startSandboxProvider } from './site.ts'

try {
  const site = await startSandboxProvider({
    port: Number(process.env['PORT'] || 4010),
    host: process.env['HOST'] || '127.0.0.1',
    timeScale: Number(process.env['TIME_SCALE'] || 1),
  })
  const end = () => void site.stop().then(() => process.exit(0))
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.on('disconnect', end)
  if (process.send) process.send({ ready: true, url: site.url })
  else process.stderr.write(`Sandbox provider: ${site.url}\n`)
} catch (error) {
  process.stderr.write(`The sandbox provider cannot start: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
