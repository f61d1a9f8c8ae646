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
    return { ok: true, ...(await purge({ appId, target, by, runtime, signal: goneSignal(response) })) }
  },
})
