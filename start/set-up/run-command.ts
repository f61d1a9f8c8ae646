import { spawn } from 'node:child_process'

const TAIL_CHARACTERS = 600

/**
 * Runs a command to its end and resolves to its stdout. Rejects with the end of what it wrote to stderr (stdout where that is
 * empty). Aborting the signal ends it.
 */
export function runCommand(
  command: string,
  args: string[],
  { env = process.env, signal }: { env?: Record<string, string | undefined>; signal?: AbortSignal | undefined } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...(signal && { signal }) })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', (status, killedBy) => {
      if (status === 0) return resolve(stdout)
      const said = (stderr.trim() || stdout.trim()).slice(-TAIL_CHARACTERS)
      reject(new Error(`${command} ${args[0] ?? ''} ended with ${killedBy ?? `status ${status}`}: ${said}`))
    })
  })
}
