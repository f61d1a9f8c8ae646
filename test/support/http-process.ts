import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { NODE_ARGUMENTS } from '../../start/node-arguments.ts'

const MAIN = fileURLToPath(new URL('../../http/main.ts', import.meta.url))

export interface HttpProcess {
  url: string
  child: ChildProcess
  /** Ends it as its parent would; returns the exit status. */
  stop(): Promise<number | null>
}

/** A real http process, as the service's parent starts it. */
export async function startHttpProcess(
  env: Record<string, string>,
  { nodeArguments = [] }: { nodeArguments?: string[] } = {},
): Promise<HttpProcess> {
  const child = fork(MAIN, [], {
    env: { ...process.env, ...env },
    execArgv: [...NODE_ARGUMENTS, ...nodeArguments],
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message: { url: string }) => resolve(message.url))
    child.once('exit', (status) => reject(new Error(`the http process ended with status ${status}`)))
  })
  return {
    url,
    child,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      child.kill('SIGTERM')
      const [status] = await once(child, 'exit')
      return status
    },
  }
}
