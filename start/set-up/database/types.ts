import type { Clock } from '../../../core/clock.ts'

export type DatabaseKind = 'external' | 'mongod' | 'memory-server' | 'ferretdb'

export interface Database {
  kind: DatabaseKind
  /** Address of the database of that name, unless `MONGODB_URL` names one itself. */
  url(name: string): string
  /** Process ids of the servers that run for it now; empty for an external one. */
  readonly pids: number[]
  /** Ends the servers in order; what was acknowledged is on disk. */
  stop(): Promise<void>
}

/** What every way to get a database works with. */
export interface Setup {
  /** Where the data lives, kept between starts. */
  dataDir: string
  /** Where downloads and builds live, shared by all clones of one person. */
  cacheDir: string
  /** The port to listen on. */
  port: number
  /** One line for people about what takes time. */
  progress(message: string): void
  clock: Clock
  env: Record<string, string | undefined>
  signal?: AbortSignal
}
