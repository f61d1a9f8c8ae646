import { audited } from '../../schemas/operations/audit.ts'
import { previewPurge, purge } from '../actions/purge.ts'
import { readPurge } from '../actions/purge-target.ts'
import { goneSignal } from '../kit/abort-signal.ts'
import { inTime } from '../kit/deadline.ts'
import type { OpsPart } from './handler.ts'

export const purgeHandlers: OpsPart<'purge'> = (runtime) => ({
  purge: async ({ query, request, response, by }) => {
    const { appId, target } = readPurge(request.body)
    if (query.dryRun === 'true') {
      return { dryRun: true, ...(await inTime(previewPurge({ appId, target }), runtime)) }
    }
    // Beside the command, which is not kept for as long as who deleted what is asked for.
    const [action, id] =
      'userRef' in target ? ['user.deleted', target.userRef] : ['connection.deleted', target.connectionId]
    const done = await audited(
      { at: runtime.clock.now(), by, action, appId, target: id },
      () => purge({ appId, target, by, runtime, signal: goneSignal(response) }),
      ({ connectionsRevoked, conversationsDeleted }) => ({ details: { connectionsRevoked, conversationsDeleted } }),
    )
    return { ok: true, ...done }
  },
})
