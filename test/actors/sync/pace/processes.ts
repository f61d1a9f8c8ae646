import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { once } from 'node:events'
import { type RunningSite, siteAt } from '../../../provider/sandbox.ts'
import type { ReaderOptions } from './reader.ts'

const SITE = new URL('../../../../sandbox/main.ts', import.meta.url)
const READER = new URL('reader.ts', import.meta.url)

async function started(path: URL, args: string[], options: ForkOptions = {}) {
  const child = fork(path, args, { execArgv: ['--import', 'tsx'], ...options })
  const [message] = (await once(child, 'message')) as [unknown]
  return { child, message }
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

/** The sandbox provider as a process of its own: nothing that goes on in this one delays its log. */
export async function startSiteProcess({ timeScale }: { timeScale: number }): Promise<RunningSite> {
  const env = { ...process.env, PORT: '0', TIME_SCALE: String(timeScale) }
  const { child, message } = await started(SITE, [], { env })
  const { url } = message as { url: string }
  return siteAt({ url, stop: () => end(child, 'SIGTERM') })
}

export async function startReader(options: ReaderOptions): Promise<ChildProcess> {
  return (await started(READER, [JSON.stringify(options)])).child
}
