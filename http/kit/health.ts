import type { RequestHandler } from 'express'
import type { Clock } from '../../core/clock.ts'
import { databaseAnswers } from '../../schemas/database.ts'

/** The process answers. */
export const healthy: RequestHandler = (_request, response) => {
  response.json({ ok: true })
}

/** The process can serve requests: the database answers. */
export function ready({ clock }: { clock: Clock }): RequestHandler {
  return async (_request, response) => {
    const database = await databaseAnswers({ clock })
    response.status(database ? 200 : 503).json(database ? { ok: true } : { error: 'The database does not answer' })
  }
}
