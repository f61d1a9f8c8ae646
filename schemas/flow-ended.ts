import { FLOW_ENDS, type FlowReason } from '../wire/flow-ends.ts'
import { type OutboxEntry, outboxEntry } from './outbox.ts'

/**
 * The intent to tell the app that a connect flow (a lease or a capture) has ended, for whoever ends it to write in the same update. Of one
 * flow it is always the same delivery, so that of two who end it the app hears once.
 */
export const flowEnded = ({
  flowId,
  appId,
  userRef,
  reason,
  at,
}: {
  flowId: string
  appId: string
  userRef: string
  reason: FlowReason
  at: Date
}): OutboxEntry =>
  outboxEntry({
    cause: flowId,
    appId,
    event: 'connect.ended',
    payload: { userRef, outcome: FLOW_ENDS[reason], reason },
    at,
  })
