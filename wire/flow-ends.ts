/**
 * Why a connect flow ended, and which end that is: `connect.ended` names both (docs/behaviour.md, Events), operators see the reason, and
 * the hosted page says it in words.
 */
export const FLOW_ENDS = {
  completed: 'connected',
  by_visitor: 'cancelled',
  time_over: 'expired',
  account_held: 'failed',
  provider_unreachable: 'failed',
  provider_refused: 'failed',
  provider_slow: 'failed',
  no_browser: 'failed',
  not_completed: 'failed',
  by_operator: 'failed',
  deleted: 'failed',
} as const

export type FlowReason = keyof typeof FLOW_ENDS
export type FlowOutcome = (typeof FLOW_ENDS)[FlowReason]

/** What keeps a provider's page from opening: the flow goes on where the visitor tries again. */
export type ProviderTrouble = Extract<FlowReason, `provider_${string}`>

/** States of a lease (a connect flow's place in the farm) that stay as they are. */
export const FINAL_LEASE_STATES = ['connected', 'failed', 'released'] as const

export const isFinalLeaseState = (state: string): boolean => (FINAL_LEASE_STATES as readonly string[]).includes(state)
