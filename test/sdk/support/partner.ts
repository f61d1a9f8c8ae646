import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { SECRET } from './webhook.ts'

export const APP_SECRET = 'app-secret-of-at-least-thirty-two-bytes'

const main = fileURLToPath(new URL('../../../sdk/example/main.ts', import.meta.url))

export type Partner = {
  url: string
  child: ChildProcess
  /** Ends it; returns the exit status. */
  end(how?: 'SIGTERM' | 'SIGINT' | 'disconnect'): Promise<number | null>
}

export function partnerEnv(baseUrl: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    CCS_BASE_URL: baseUrl,
    CCS_APP_ID: 'demo',
    CCS_APP_SECRET: APP_SECRET,
    CCS_API_KEY: 'ccs_key',
    CCS_WEBHOOK_SECRET: SECRET,
    PORT: '0',
    ...more,
  }
}

/** Starts the example partner as the parent process does. */
export async function startPartner(baseUrl: string, more: Record<string, string> = {}): Promise<Partner> {
  const child = fork(main, {
    execArgv: ['--import', 'tsx'],
    env: partnerEnv(baseUrl, more),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const [message] = (await once(child, 'message')) as [{ ready: boolean; url: string }]
  return {
    url: message.url,
    child,
    async end(how = 'SIGTERM') {
      if (child.exitCode !== null) return child.exitCode
      const exited = once(child, 'exit')
      if (how === 'disconnect') child.disconnect()
      else child.kill(how)
      const [code] = (await exited) as [number | null]
      return code
    },
  }
}
