import { writeSync } from 'node:fs'
import { constants } from 'node:os'
import { render } from 'ink'
import type { Arguments } from './arguments.ts'
import { createClient } from './client.ts'
import { createDashboard } from './dashboard.ts'
import { keyReader } from './keys.ts'
import { Screen } from './screen.tsx'

/** Lines do not run over their end: terminals measure some emoji otherwise than this program. */
const ENTER = '\x1b[?1049h\x1b[H\x1b[?7l'
const LEAVE = '\x1b[0m\x1b[?7h\x1b[?1049l\x1b[?25h'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
const FRAMES_PER_SECOND = 60

/** The dashboard on a terminal, until somebody ends it. The terminal is as it was before, whatever ends the program. */
export function runScreen({ url, key, view, readOnly }: Arguments): void {
  const { stdin, stdout } = process
  const dashboard = createDashboard({ client: createClient({ url, key }), view, readOnly, onEnd: () => end(0) })
  let ended = false
  const end = (status: number, error?: unknown): void => {
    if (ended) return
    ended = true
    dashboard.stop()
    try {
      screen?.unmount()
      if (stdin.isTTY) stdin.setRawMode(false)
      writeSync(stdout.fd, LEAVE)
    } catch {
      // The terminal is gone.
    }
    if (error !== undefined) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    process.exit(status)
  }
  let screen: ReturnType<typeof render> | undefined
  for (const signal of SIGNALS) process.on(signal, () => end(128 + constants.signals[signal]))
  process.on('uncaughtException', (error) => end(1, error))
  process.on('unhandledRejection', (error) => end(1, error))
  stdout.on('error', () => end(1))
  stdin.on('end', () => end(0))

  const resize = (): void => dashboard.resize({ columns: stdout.columns, rows: stdout.rows })
  resize()
  stdout.on('resize', () => {
    // What the old size left is not what the new one draws over.
    writeSync(stdout.fd, '\x1b[2J\x1b[H')
    screen?.clear()
    resize()
  })
  writeSync(stdout.fd, ENTER)
  screen = render(<Screen dashboard={dashboard} />, { exitOnCtrlC: false, maxFps: FRAMES_PER_SECOND })
  screen.waitUntilExit().catch((error: unknown) => end(1, error))
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.on('data', keyReader(dashboard.press))
  dashboard.start()
}
