import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { systemClock } from '../../core/clock.ts'
import { installDebianPackages } from '../../start/set-up/debian-packages.ts'
import { until } from './until.ts'

const run = promisify(execFile)

/** A real terminal with one program in it. */
export interface Terminal {
  /** What stands on the screen, line by line. */
  screen(): Promise<string[]>
  /** Waits until the screen shows something; returns it as one text. */
  shows(wanted: string | RegExp): Promise<string>
  /** Presses keys by tmux's names of them. */
  press(...keys: string[]): Promise<void>
  /** Types text as it is. */
  type(text: string): Promise<void>
  resize(columns: number, rows: number): Promise<void>
  /** Id of the program's process. */
  pid(): Promise<number>
  /** Whether the alternate screen is shown, and whether the cursor is. */
  modes(): Promise<{ alternate: boolean; cursor: boolean }>
  close(): Promise<void>
}

/** Installs tmux where the machine has none. */
async function needTmux(): Promise<void> {
  try {
    await run('tmux', ['-V'])
  } catch {
    await installDebianPackages({ packages: ['tmux'], env: process.env, clock: systemClock() })
  }
}

/** Runs a program in a terminal of its own; what it leaves behind when it ends stays on the screen, with `ended <status>` below it. */
export async function openTerminal({
  command,
  env,
  columns,
  rows,
  cwd,
}: {
  command: string
  env: Record<string, string>
  columns: number
  rows: number
  cwd: string
}): Promise<Terminal> {
  await needTmux()
  const socket = `ccs-test-${randomUUID()}`
  const tmux = async (...args: string[]): Promise<string> =>
    (await run('tmux', ['-L', socket, '-f', '/dev/null', ...args])).stdout
  const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
  const size = ['-x', String(columns), '-y', String(rows)]
  const shell = `echo before; ${command}; echo "ended $?"; exec sleep 600`
  await tmux('new-session', '-d', ...size, '-c', cwd, ...variables, shell)
  await tmux('set-option', '-g', 'status', 'off')
  await tmux('set-option', '-g', 'escape-time', '10')
  await tmux('resize-window', ...size)
  const screen = async (): Promise<string[]> => (await tmux('capture-pane', '-p')).split('\n').slice(0, -1)
  return {
    screen,
    shows: async (wanted) => {
      let last = ''
      const found = async (): Promise<boolean> => {
        last = (await screen()).join('\n')
        return typeof wanted === 'string' ? last.includes(wanted) : wanted.test(last)
      }
      await until(`${wanted} on the screen`, found, { everyMs: 100 }).catch((error: Error) => {
        throw new Error(`${error.message}:\n${last}`)
      })
      return last
    },
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    type: async (text) => void (await tmux('send-keys', '-l', '--', text)),
    resize: async (width, height) => void (await tmux('resize-window', '-x', String(width), '-y', String(height))),
    pid: async () => {
      const parent = (await tmux('display-message', '-p', '#{pane_pid}')).trim()
      return Number((await run('pgrep', ['-P', parent])).stdout.trim().split('\n')[0])
    },
    modes: async () => {
      const [alternate, cursor] = (await tmux('display-message', '-p', '#{alternate_on} #{cursor_flag}'))
        .trim()
        .split(' ')
      return { alternate: alternate === '1', cursor: cursor === '1' }
    },
    close: async () => void (await tmux('kill-server').catch(() => undefined)),
  }
}
