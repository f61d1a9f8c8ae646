import { z } from 'zod'
import { FLOW_ENDS, type FlowOutcome, type FlowReason } from './flow-ends.ts'

const id = z.uuid()
const time = z.iso.datetime()
const count = z.number().int().min(0)

/** docs/behaviour.md, Events: the payload of each event, these fields and no others. */
export const eventPayloads = {
  'connect.started': z.strictObject({
    userRef: z.string(),
    user_id: id,
    connector: z.string(),
    scopes: z.array(z.string()),
  }),
  /** Only to an app that has turned it on. */
  'connect.ended': z.strictObject({
    userRef: z.string(),
    outcome: z.enum([...new Set(Object.values(FLOW_ENDS))] as FlowOutcome[]),
    reason: z.enum(Object.keys(FLOW_ENDS) as FlowReason[]),
  }),
  'connection.created': z.strictObject({
    connectionId: id,
    userRef: z.string(),
    userId: id,
    connectorId: z.string(),
    provider: z.string(),
    replaces: z.array(id),
  }),
  'data.imported': z.strictObject({
    connectionId: id,
    userRef: z.string(),
    inserted: count,
    updated: count,
    unchanged: count,
    total: count,
    importedAt: time,
  }),
  'reauth.needed': z.strictObject({
    connectionId: id,
    userRef: z.string(),
    provider: z.string(),
    reason: z.string(),
    lastSuccessfulPull: time.nullable(),
  }),
  'data.deleted': z.strictObject({
    userRef: z.string(),
    providers: z.array(z.string()),
    connectionIds: z.array(id),
    conversationsDeleted: count,
    deletedAt: time,
  }),
  'connection.deleted': z.strictObject({
    connectionId: id,
    userRef: z.string(),
    provider: z.string(),
    conversationsDeleted: count,
    deletedAt: time,
  }),
  /** Sent on request from the portal, to try an endpoint out. */
  'test.event': z.strictObject({ userRef: z.string(), message: z.string() }),
} as const

export type EventName = keyof typeof eventPayloads
export type EventPayloads = { [E in EventName]: z.infer<(typeof eventPayloads)[E]> }
export const EVENT_NAMES = Object.keys(eventPayloads) as EventName[]
