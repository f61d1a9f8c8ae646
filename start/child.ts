import { type ChildProcess, fork } from 'node:child_process'
import cluster from 'node:cluster'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../core/clock.ts'
import { NODE_ARGUMENTS } from './node-arguments.ts'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const READY_LIMIT_MS = 60_000
/** A child stops itself within 10 s (docs/security.md, Reliability); one that has not is killed. */
const STOP_LIMIT_MS = 11_000
/** A child that was ready is replaced at once, one that never was a little later: both within a second (docs/behaviour.md, npm start -- --json). */
const RESTART_MS = 50
const RESTART_FAILED_MS = 700

/** stdout of a child goes to stderr: the parent's stdout carries nothing but its one line. */
const STDIO: ['ignore', number, number, 'ipc'] = ['ignore', 2, 2, 'ipc']

export interface Child {
  readonly pid: number | undefined
  /** The first readiness; rejects when the child ends before it. */
  ready: Promise<void>
  stop(): Promise<void>
}

export interface ChildOptions {
  name: string
  /** Path of the program from the project's root. */
  file: string
  /** Several may run on one port: each takes connections from the shared listener itself. */
  sharesPort?: boolean
  env: Record<string, string>
  clock: Clock
  progress(message: string): void
}

/** Starts a child process and replaces it whenever it ends by itself. Once it was ready for the first time it is never given up. */
export function keepChild({ name, file, sharesPort = false, env, clock, progress }: ChildOptions): Child {
  const path = join(ROOT, file)
  let current: ChildProcess | undefined
  let ended: Promise<void> = Promise.resolve()
  let stopping = false
  let everReady = false
  let resolveReady = (): void => undefined
  let rejectReady = (_error: Error): void => undefined
  const ready = new Promise<void>((resolve, reject) => {
    resolveReady = resolve
    rejectReady = reject
  })

  const run = (): void => {
    const child = sharesPort ? forkSharing({ path, env }) : fork(path, [], forkOptions(env))
    current = child
    let isReady = false
    const limit = clock.timer(READY_LIMIT_MS, () => isReady || child.kill('SIGKILL'))
    child.on('message', (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('ready' in message)) return
      isReady = true
      everReady = true
      limit.cancel()
      resolveReady()
    })
    ended = new Promise((resolve) => {
      const end = (why: string): void => {
        if (current !== child) return
        current = undefined
        limit.cancel()
        resolve()
        if (stopping) return
        if (!everReady) {
          rejectReady(new Error(`${name} ended before it was ready (${why})`))
          return
        }
        progress(`${name} ended (${why}); starting it again`)
        clock.timer(isReady ? RESTART_MS : RESTART_FAILED_MS, () => stopping || run())
      }
      child.on('error', (error) => end(error.message))
      child.on('exit', (status, signal) => end(signal ?? `status ${status}`))
    })
  }
  run()

  return {
    get pid() {
      return current?.pid
    },
    ready,
    stop: async () => {
      stopping = true
      const last = current
      if (!last) return
      last.kill('SIGTERM')
      const limit = clock.timer(STOP_LIMIT_MS, () => last.kill('SIGKILL'))
      await ended
      limit.cancel()
    },
  }
}

function forkOptions(env: Record<string, string>) {
  return { cwd: ROOT, env: { ...process.env, ...env }, execArgv: NODE_ARGUMENTS, stdio: STDIO }
}

function forkSharing({ path, env }: { path: string; env: Record<string, string> }): ChildProcess {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: path, args: [], cwd: ROOT, execArgv: NODE_ARGUMENTS, stdio: STDIO })
  return cluster.fork(env).process
}
