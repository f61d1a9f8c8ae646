import { z } from 'zod'

const time = z.iso.datetime()
const count = z.number().int().min(0)
const by = z.object({ kind: z.string(), id: z.string(), from: z.string().optional() })
const gauges = z.record(z.string(), z.number())

const processShape = z.object({
  id: z.string(),
  kind: z.enum(['http', 'actors', 'browser-farm']),
  pid: z.number().int(),
  host: z.string(),
  state: z.enum(['starting', 'running', 'draining']),
  healthPort: z.number().int().describe('Where its /healthz, /readyz and /metrics are'),
  startedAt: time,
  seenAt: time,
  eventLoopLagMs: z.number().describe('The longest that its event loop was held up within the last second'),
  memoryBytes: z.number().describe('Resident memory'),
  gauges: gauges.describe('What it is doing: numbers by name'),
})

/** GET /ops/overview */
export const overviewAnswer = z.object({
  environment: z.enum(['sandbox', 'production']),
  timeScale: z.number(),
  now: time,
  database: z.object({ ok: z.boolean() }),
  processes: z.object({
    http: z.array(z.number().int()),
    actors: z.array(z.number().int()),
    'browser-farm': z.array(z.number().int()),
  }),
  processDetails: z.array(processShape),
  providers: z.array(z.object({ id: z.string(), displayName: z.string() })),
  counts: z.object({
    at: time.describe('When they were counted'),
    apps: count,
    users: count,
    connections: z.object({ active: count, needs_reauth: count, revoked: count, quarantined: count }),
    conversations: count,
    syncs: z.object({
      due: count,
      late: count.describe('Due for more than a minute'),
      oldestDueAt: time.nullable(),
    }),
    deliveries: z.object({
      waiting: count,
      failing: count.describe('Waiting after an attempt that failed'),
      dropped: count,
      oldestAt: time.nullable().describe('When the oldest that waits was made'),
    }),
    mails: z.object({ waiting: count, dropped: count }),
    commands: z.object({ waiting: count }),
    leases: z.object({ open: count }),
  }),
})

/** GET /ops/actors */
export const actorsAnswer = z.object({
  processes: z.array(
    processShape.extend({
      actors: z
        .array(
          z.object({
            path: z.string().describe('Its supervisors from the root, then the id of its document'),
            kind: z.enum(['connection', 'command', 'delivery']),
            state: z.enum(['starting', 'working']),
            mailbox: count.describe('Messages that wait for it'),
            since: time.describe('When it began what it does now'),
            doing: z.string().nullable(),
            crashes: count.describe('In a row, of what it works for'),
          }),
        )
        .describe('At most 500, the oldest first'),
      total: count.describe('How many live, those left out too'),
    }),
  ),
  quarantined: z.array(
    z.object({
      id: z.string(),
      appId: z.string(),
      crashes: count,
      quarantinedAt: time,
      outcome: z.string().nullable(),
    }),
  ),
})

const connectionShape = z.object({
  id: z.string(),
  appId: z.string(),
  userId: z.string(),
  userRef: z.string(),
  provider: z.string(),
  status: z.enum(['active', 'needs_reauth', 'revoked']),
  accountId: z.string(),
  capturedAt: time,
  lastSyncAt: time.nullable(),
  revokedAt: time.nullable(),
  nextSyncAt: time.nullable().describe('Null: none is due, or one is under way'),
  working: z.boolean(),
  outcome: z.string().nullable().describe('Why the last sync ended as it did'),
  crashes: count,
  quarantinedAt: time.nullable(),
  conversationCount: count,
  progress: z
    .object({ stored: count, total: count.nullable(), done: z.boolean() })
    .describe('How far the history was read, as the manage page shows it; total is what the provider says it has'),
  replaces: z.array(z.string()),
  device: z.record(z.string(), z.string()),
})

/** GET /ops/connections?q= */
export const opsConnectionsAnswer = z.object({ connections: z.array(connectionShape) })

/** GET /ops/leases */
export const leasesAnswer = z.object({
  leases: z.array(
    z.object({
      id: z.string(),
      appId: z.string(),
      userRef: z.string(),
      provider: z.string(),
      state: z.string(),
      failure: z.string().nullable(),
      nodeId: z.string().nullable(),
      connectionId: z.string().nullable(),
      viewerPresent: z.boolean().describe('A page shows it now'),
      viewport: z.object({
        width: z.number(),
        height: z.number(),
        deviceScaleFactor: z.number(),
        mobile: z.boolean(),
      }),
      releaseRequestedAt: time.nullable(),
      createdAt: time,
      expiresAt: time,
      endedAt: time.nullable(),
    }),
  ),
})

const deliveryShape = z.object({
  id: z.string(),
  deliveryId: z.string(),
  event: z.string(),
  appId: z.string(),
  endpoint: z.string().nullable().describe('Where the app has its events sent now: scheme and host'),
  state: z.enum(['waiting', 'delivered', 'dropped']),
  attempts: z.array(
    z.object({
      number: z.number().int(),
      at: time,
      status: z.number().int().nullable(),
      durationMs: z.number().nullable(),
      error: z.string().nullable(),
      answer: z.string().nullable().describe('The first KiB of what the endpoint answered'),
    }),
  ),
  nextAttemptAt: time.nullable(),
  createdAt: time,
  endedAt: time.nullable(),
  body: z.string().describe('The exact body of every attempt'),
})

/** GET /ops/deliveries */
export const deliveriesAnswer = z.object({ deliveries: z.array(deliveryShape) })

/** GET /ops/connections/:id */
export const opsConnectionAnswer = z.object({
  connection: connectionShape,
  syncs: z.array(z.object({ at: time, outcome: z.string() })).describe('How the last ones ended, newest first'),
  deliveries: z.array(deliveryShape).describe('Among the newest 500 of its app'),
})

/** GET /ops/commands */
export const commandsAnswer = z.object({
  commands: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      appId: z.string(),
      target: z.string(),
      by,
      state: z.enum(['waiting', 'done', 'failed']),
      result: z.record(z.string(), z.unknown()).nullable(),
      failure: z
        .object({
          code: z.string(),
          message: z.string(),
          reason: z.string().nullable().describe('Why it was set aside after crashes'),
        })
        .nullable(),
      crashes: count,
      createdAt: time,
      dueAt: time.nullable(),
      doneAt: time.nullable(),
    }),
  ),
})

/** GET /ops/mails: a mail that was sent is forgotten. */
export const mailsAnswer = z.object({
  mails: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      appId: z.string().nullable(),
      to: z.string(),
      state: z.enum(['waiting', 'dropped']),
      failures: z.array(z.object({ at: time, error: z.string() })),
      nextAttemptAt: time.nullable(),
      createdAt: time,
    }),
  ),
})

/** GET /ops/audit */
export const auditAnswer = z.object({
  entries: z.array(
    z.object({
      id: z.string(),
      at: time,
      by,
      action: z.string(),
      appId: z.string().nullable(),
      target: z.string().nullable(),
      details: z.record(z.string(), z.unknown()),
    }),
  ),
})

/** POST /ops/deliveries/:id/retry */
export const retryAnswer = z.object({
  ok: z.literal(true),
  deliveryId: z.string(),
  result: z.enum(['reopened', 'under way']),
})
/** POST /ops/commands/:id/retry */
export const retryCommandAnswer = z.object({
  ok: z.literal(true),
  commandId: z.string().describe('The command that does it again; of one that was retried before, the same'),
})
/** POST /ops/deliveries/retry?since= */
export const retryManyAnswer = z.object({ ok: z.literal(true), reopened: count })
/** POST /ops/leases/:id/release */
export const releaseAnswer = z.object({ ok: z.literal(true), state: z.string() })
/** POST /ops/connections/:id/sync */
export const syncAnswer = z.object({
  ok: z.literal(true),
  accepted: z.boolean().describe('False: it is being synced already, or its session has ended'),
})

export type Overview = z.infer<typeof overviewAnswer>
export type OpsActors = z.infer<typeof actorsAnswer>
export type OpsConnections = z.infer<typeof opsConnectionsAnswer>
export type OpsLeases = z.infer<typeof leasesAnswer>
export type OpsDeliveries = z.infer<typeof deliveriesAnswer>
export type OpsCommands = z.infer<typeof commandsAnswer>
export type OpsMails = z.infer<typeof mailsAnswer>
export type OpsAudit = z.infer<typeof auditAnswer>
