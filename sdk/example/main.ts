/**
 * The example partner: a small backend with one page, which connects a user, shows connections, conversations and the
 * events that came in, and deletes them. Configured by the environment; see `config.ts` and the README.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '../src/index.ts'
import { createPartner } from './app.ts'
import { type PartnerConfig, readConfig } from './config.ts'
import { openEventLog } from './event-log.ts'

function fail(error: unknown): never {
  console.error(`example partner: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}

function start(config: PartnerConfig) {
  const { baseUrl, apiKey, appId, dataDir, host, port } = config
  // A page that waits for a minute helps nobody: what the API refuses is shown at once.
  const client = createClient({ baseUrl, apiKey, appId, maxAttempts: 1, timeoutMs: 15_000 })
  const server = createServer()
  const ownUrl = () => {
    const { port: bound } = server.address() as AddressInfo
    const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
    return `http://${name.includes(':') ? `[${name}]` : name}:${bound}`
  }
  server.on('request', createPartner({ config, client, log: openEventLog({ dataDir }), ownUrl }))
  server.on('error', fail)

  const stop = () => {
    server.close(() => process.exit(0))
    // Event streams stay open for as long as their page does.
    server.closeAllConnections()
  }
  process.once('SIGTERM', stop).once('SIGINT', stop).once('disconnect', stop)

  server.listen(port, host, () => {
    const url = ownUrl()
    console.error(`example partner on ${url}`)
    process.send?.({ ready: true, url })
  })
}

try {
  start(readConfig(process.env))
} catch (error) {
  fail(error)
}
