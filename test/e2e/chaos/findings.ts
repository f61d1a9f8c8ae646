import type { Connection } from '../../../schemas/connection/connection.ts'

export interface Findings {
  /** What does not hold. */
  wrong: string[]
  all: Connection[]
  /** Active, or waiting for its user to sign in again. */
  live: Connection[]
}
