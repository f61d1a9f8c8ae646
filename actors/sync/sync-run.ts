import { newId } from '../../core/ids.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import type { Connection } from '../../schemas/connection/connection.ts'
import { releaseAt, writeHeld } from '../connection/claimed.ts'
import type { ActorRuntime } from '../runtime.ts'
import { YIELD_WAIT_MS } from './outcome.ts'

/**
 * Begins the run of a sync, or takes up the one that a crash cut short, and returns its id. Null, with the connection given back, while
 * an ingestion that was cut short has still to be taken up: what it stored is for it to tell.
 */
export async function beginRun(connection: Connection, { clock }: ActorRuntime): Promise<string | null> {
  const runId = await runToTakeUp(connection)
  if (runId === null) await writeHeld(connection, releaseAt(new Date(clock.now().getTime() + YIELD_WAIT_MS)))
  // A run that is taken up looks at everything again: what it left as it was is counted anew.
  else {
    const settled = { fence: connection.fence, batches: 0 }
    await writeHeld(connection, { $set: { 'sync.runId': runId, 'sync.unchanged': 0, settled } })
  }
  return runId
}

/** One that was cut short, an ingestion's too where that was given up, or a new one. */
async function runToTakeUp({ sync: { runId } }: Connection): Promise<string | null> {
  if (!runId) return newId()
  const command = await Commands.findById(runId).select({ state: 1 }).lean<Pick<Command, 'state'>>()
  if (!command || command.state === 'failed') return runId
  return command.state === 'done' ? newId() : null
}
