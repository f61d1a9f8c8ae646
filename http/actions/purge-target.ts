import { ServiceError } from '../../core/errors.ts'
import { purgeBody } from '../../wire/purge.ts'
import { parseInput } from '../kit/input.ts'
import type { PurgeTarget } from './purge.ts'

/** The app and the one target of a purge's body. Throws `ServiceError` 400; an empty or null target counts as none. */
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
