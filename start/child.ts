import { type ChildProcess, fork } from 'node:child_process'
import cluster from 'node:cluster'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../core/clock.ts'
import { NODE_ARGUMENTS, programFile } from './node-arguments.ts'
import { type Kept, keepRunning } from './set-up/keep-running.ts'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const READY_LIMIT_MS = 60_000
/** A child stops itself within 10 s (docs/security.md, Reliability); one that has not is killed. */
const STOP_LIMIT_MS = 11_000
/** A child that was ready is replaced at once, one that never was a little later: both within a second (docs/behaviour.md, npm start -- --json). */
const RESTART_MS = 50
const RESTART_FAILED_MS = 700

/** stdout of a child goes to stderr: the parent's stdout carries nothing but its one line. */
const STDIO: ['ignore', number, number, 'ipc'] = ['ignore', 2, 2, 'ipc']

type Env = Record<string, string | undefined>

export interface Child extends Kept {
  /** The first readiness; rejects when the child ends before it. */
  ready: Promise<void>
}

export interface ChildOptions {
  name: string
  /** Path of the program from the project's root, without its extension. */
  program: string
  /** Of Node itself. */
  nodeArguments?: string[]
  /** Several may run on one port: each takes connections from the shared listener itself. */
  sharesPort?: boolean
  /** Its whole environment. */
  env: Env
  clock: Clock
  progress(message: string): void
}

/** Starts a child process and replaces it whenever it ends by itself. Once it was ready for the first time it is never given up. */
export function keepChild({
  name,
  program,
  nodeArguments = NODE_ARGUMENTS,
  sharesPort = false,
  env,
  clock,
  progress,
}: ChildOptions): Child {
  const path = programFile(join(ROOT, program))
  let isReady = false
  let everReady = false
  let resolveReady = (): void => undefined
  let rejectReady = (_error: Error): void => undefined
  const ready = new Promise<void>((resolve, reject) => {
    resolveReady = resolve
    rejectReady = reject
  })

  const launch = (): ChildProcess => {
    const child = sharesPort
      ? forkSharing({ path, nodeArguments, env })
      : fork(path, [], { env, execArgv: nodeArguments, stdio: STDIO })
    isReady = false
    const limit = clock.timer(READY_LIMIT_MS, () => child.kill('SIGKILL'))
    child.on('exit', limit.cancel)
    child.on('message', (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('ready' in message)) return
      isReady = true
      everReady = true
      limit.cancel()
      resolveReady()
    })
    return child
  }
  const ended = ({ why }: { why: string }): number | undefined => {
    if (!everReady) {
      rejectReady(new Error(`${name} ended before it was ready (${why})`))
      return undefined
    }
    progress(`${name} ended (${why}); starting it again`)
    return isReady ? RESTART_MS : RESTART_FAILED_MS
  }
  const kept = keepRunning({ launch, ended, stopLimitMs: STOP_LIMIT_MS, clock })
  return {
    get pid() {
      return kept.pid
    },
    ready,
    stop: kept.stop,
  }
}

function forkSharing({ path, nodeArguments, env }: { path: string; nodeArguments: string[]; env: Env }): ChildProcess {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: path, args: [], execArgv: nodeArguments, stdio: STDIO })
  // The cluster adds the parent's own environment, but for what is undefined.
  const withheld = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]))
  return cluster.fork({ ...withheld, ...env }).process
}
