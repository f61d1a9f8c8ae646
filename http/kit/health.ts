import type { RequestHandler } from 'express'
import { type Clock, SECOND } from '../../core/clock.ts'
import { databaseAnswers } from '../../schemas/database.ts'
import { inTime } from './deadline.ts'

const READY_MS = 2 * SECOND

/** The process answers. */
export const healthy: RequestHandler = (_request, response) => {
  response.json({ ok: true })
}

/** True when the database answers soon. */
export const databaseReady = ({ clock }: { clock: Clock }): Promise<boolean> =>
  inTime(databaseAnswers(), { clock, ms: READY_MS }).catch(() => false)

/** The process can serve requests: the database answers. */
export function ready({ clock }: { clock: Clock }): RequestHandler {
  return async (_request, response) => {
    const database = await databaseReady({ clock })
    response.status(database ? 200 : 503).json(database ? { ok: true } : { error: 'The database does not answer' })
  }
}
