import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signLink } from '../../sdk/src/index.ts'
import type { Announcement } from '../../start/announcement.ts'

interface WholeService {
  /** Of the process that starts all others. */
  pid: number
  baseUrl: string
  /** Until it was ready, with nothing there yet. */
  readyMs: number
  link(options: { userRef: string }): string
  stop(): Promise<void>
}

/** All that `npm start` starts, in a folder of its own. */
export async function startWholeService(env: Record<string, string>): Promise<WholeService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ccs-bench-'))
  const begin = performance.now()
  const service = spawn(process.execPath, ['start/bootstrap.js', 'start', '--json'], {
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(service.stdout, 'data')
  const readyMs = performance.now() - begin
  const { app, baseUrl }: Announcement = JSON.parse(String(line))
  return {
    pid: Number(service.pid),
    baseUrl,
    readyMs,
    link: ({ userRef }) => signLink({ ...app, baseUrl, userRef }).url,
    stop: async () => {
      service.kill('SIGTERM')
      await once(service, 'exit')
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
