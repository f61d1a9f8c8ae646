import { spawn } from 'node:child_process'

/**
 * A shell that outlives this process by a moment: it reads the ids of the servers line by line, and when the pipe closes because
 * this process is gone, however it went, it asks the servers of the last line to end. Without it a `kill -9` would orphan them.
 */
const SCRIPT = 'while read -r line; do pids=$line; done; [ -z "$pids" ] || kill -INT $pids'

interface Guard {
  readonly pid: number | undefined
  /** Replaces the list of servers that are to end with this process. */
  follow(pids: number[]): void
  dismiss(): void
}

export function startGuard(): Guard {
  const shell = spawn('sh', ['-c', SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  shell.unref()
  shell.on('error', () => undefined)
  shell.stdin.on('error', () => undefined)
  return {
    pid: shell.pid,
    follow: (pids) => void shell.stdin.write(`${pids.join(' ')}\n`),
    dismiss: () => void shell.stdin.end('\n'),
  }
}
