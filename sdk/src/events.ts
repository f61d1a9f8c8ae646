/** The payload of every event that this version of the package knows. Payloads only grow. */
export type EventPayloads = {
  /** A link was consumed at the start of the flow. */
  'connect.started': { userRef: string; user_id: string; connector: string; scopes: string[] }
  /** A flow that was started has ended, however it did; only where the app has this event turned on. */
  'connect.ended': {
    userRef: string
    outcome: 'connected' | 'cancelled' | 'failed' | 'expired'
    reason:
      | 'completed'
      | 'by_visitor'
      | 'time_over'
      | 'account_held'
      | 'provider_unreachable'
      | 'provider_refused'
      | 'provider_slow'
      | 'no_browser'
      | 'not_completed'
      | 'by_operator'
      | 'deleted'
  }
  /** The connect flow is complete. `replaces` lists the connections that this one takes over. */
  'connection.created': {
    connectionId: string
    userRef: string
    userId: string
    connectorId: string
    provider: string
    replaces: string[]
  }
  /** A sync or an export ingestion stored at least one conversation. `importedAt` is ISO 8601. */
  'data.imported': {
    connectionId: string
    userRef: string
    inserted: number
    updated: number
    unchanged: number
    total: number
    importedAt: string
  }
  /** The provider rejected the stored session: send the user a new connect link. */
  'reauth.needed': {
    connectionId: string
    userRef: string
    provider: string
    reason: string
    /** ISO 8601; null when nothing was ever imported. */
    lastSuccessfulPull: string | null
  }
  /** All data of a user was deleted. `deletedAt` is ISO 8601. */
  'data.deleted': {
    userRef: string
    providers: string[]
    connectionIds: string[]
    conversationsDeleted: number
    deletedAt: string
  }
  /** One connection and its data were deleted. `deletedAt` is ISO 8601. */
  'connection.deleted': {
    connectionId: string
    userRef: string
    provider: string
    conversationsDeleted: number
    deletedAt: string
  }
}

export type EventName = keyof EventPayloads

/** An event by its name; `deliveryId` stays the same over all retries of one delivery. */
export type EventOf<Name extends EventName> = { event: Name; payload: EventPayloads[Name]; deliveryId: string }

export type KnownEvent = { [Name in EventName]: EventOf<Name> }[EventName]

/** New event types may appear at any time: answer 2xx to those you do not handle. */
export type UnknownEvent = { event: string; payload: Record<string, unknown>; deliveryId: string }

export type WebhookEvent = KnownEvent | UnknownEvent

const known: Record<EventName, true> = {
  'connect.started': true,
  'connect.ended': true,
  'connection.created': true,
  'data.imported': true,
  'reauth.needed': true,
  'data.deleted': true,
  'connection.deleted': true,
}

/** Narrows an event to those of `EventPayloads`, so that a `switch` on `event` types the payload. */
export function isKnownEvent(event: WebhookEvent): event is KnownEvent {
  return Object.hasOwn(known, event.event)
}
