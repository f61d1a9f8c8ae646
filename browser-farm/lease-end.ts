import type { ParkedFor } from '../schemas/lease/lease.ts'
import type { FlowReason } from '../wire/flow-ends.ts'

/** Ends of the flow itself: its reason is the flow's. */
type FlowEnd = Extract<FlowReason, 'time_over' | 'no_browser'>

/** Why a lease's work on this node ends before its flow is complete; the reason of its abort signal. */
export class LeaseEnd extends Error {
  override name = 'LeaseEnd'
  readonly kind: FlowEnd | ParkedFor | 'lost' | 'stopping'
  constructor(kind: LeaseEnd['kind']) {
    super(kind)
    this.kind = kind
  }
}

/** The browser or the page behind a lease died: the visitor may begin again in a new one. */
export class BrowserLost extends Error {
  override name = 'BrowserLost'
}
