import { type ChildProcess, spawn } from 'node:child_process'

interface Outcome {
  status: number | null
  /** stdout and stderr as they came. */
  output: string
  timedOut: boolean
}

const running = new Set<ChildProcess>()

/** Runs a program in a process group of its own until it ends or `limitMs` is over; then the whole group is killed. */
export function runLimited({
  command,
  args,
  env,
  limitMs,
}: {
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  limitMs: number
}): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    let timedOut = false
    const limit = setTimeout(() => {
      timedOut = true
      killGroup(child)
    }, limitMs)
    let done = false
    const end = (status: number | null): void => {
      if (done) return
      done = true
      clearTimeout(limit)
      running.delete(child)
      resolve({ status, output, timedOut })
    }
    child.on('error', (error) => {
      output += error.message
      end(null)
    })
    // A process that a suite leaves behind may hold its pipes open: a second after its end nobody waits for them.
    child.on('exit', (status) => setTimeout(() => end(status), 1_000).unref())
    child.on('close', (status) => end(status))
  })
}

/** Kills all that still runs; for an interrupted run. */
export function killAll(): void {
  for (const child of running) killGroup(child)
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
