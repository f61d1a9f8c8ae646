import { ServiceError } from '../../core/errors.ts'
import { callerOf } from '../access/api-key.ts'
import { purge } from '../actions/purge.ts'
import { readPurge } from '../actions/purge-target.ts'
import { goneSignal } from '../kit/abort-signal.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import type { ApiHandler } from './handler.ts'

/** POST /api/purge: deletes a connection or everything of a user, and answers when it is gone. */
export const postPurge =
  (runtime: HttpRuntime): ApiHandler<'purge'> =>
  async ({ request, response, by }) => {
    const { appId } = callerOf(request)
    const { target, ...given } = readPurge(request.body)
    if (given.appId !== appId) throw new ServiceError('other_app')
    return { ok: true, ...(await purge({ appId, target, by, runtime, signal: goneSignal(response) })) }
  }
