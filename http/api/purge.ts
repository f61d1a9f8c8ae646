import type { Request, Response } from 'express'
import { ServiceError } from '../../core/errors.ts'
import { type PurgeAnswer, purgeBody } from '../../wire/purge.ts'
import { callerOf } from '../access/api-key.ts'
import { type PurgeTarget, purge } from '../actions/purge.ts'
import { goneSignal } from '../kit/abort-signal.ts'
import { parseInput } from '../kit/input.ts'
import type { HttpRuntime } from '../kit/runtime.ts'

/** POST /api/purge: deletes a connection or everything of a user, and answers when it is gone. */
export const postPurge =
  (runtime: HttpRuntime) =>
  async (request: Request, response: Response): Promise<void> => {
    const { appId, by } = callerOf(request)
    const { target, ...given } = readPurge(request.body)
    if (given.appId !== appId) throw new ServiceError('other_app')
    const result = await purge({ appId, target, by, runtime, signal: goneSignal(response) })
    const answer: PurgeAnswer = { ok: true, ...result }
    response.json(answer)
  }

/** The body's app and its one target. Throws `ServiceError` 400; an empty or null target counts as none. */
export function readPurge(body: Record<string, unknown>): { appId: string; target: PurgeTarget } {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ''))
  if (given['appId'] === undefined) throw new ServiceError('missing_app_id')
  const both = given['userRef'] !== undefined && given['connectionId'] !== undefined
  if (both) throw new ServiceError('two_purge_targets')
  const { appId, userRef, connectionId } = parseInput(purgeBody, given)
  if (userRef !== undefined) return { appId, target: { userRef } }
  if (connectionId !== undefined) return { appId, target: { connectionId } }
  throw new ServiceError('missing_purge_target')
}
