import type { OpsError } from '../../tui/client.ts'
import type { OpsActors, OpsAudit, OpsConnections, OpsDeliveries, OpsLeases, Overview } from '../../wire/ops.ts'

/** The moment at which every screen of these tests is drawn. */
export const NOW = Date.UTC(2026, 5, 1, 12)
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString()

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

type Process = Overview['processDetails'][number]
const process = (kind: Process['kind'], pid: number): Process => ({
  id: uuid(pid),
  kind,
  pid,
  host: 'host-a',
  state: 'running',
  healthPort: 4001,
  startedAt: ago(3_600),
  seenAt: ago(1),
  eventLoopLagMs: 3,
  memoryBytes: 150 * 1_048_576,
  gauges: kind === 'browser-farm' ? { leases: 2, capacity: 10 } : {},
})

const overview: Overview = {
  environment: 'sandbox',
  timeScale: 1,
  now: ago(0),
  database: { ok: true },
  processes: { http: [11], actors: [12], 'browser-farm': [13] },
  processDetails: [process('http', 11), process('actors', 12), process('browser-farm', 13)],
  providers: [],
  counts: {
    at: ago(1),
    apps: 2,
    users: 1_000,
    connections: { active: 199_000, needs_reauth: 700, revoked: 299, quarantined: 1 },
    conversations: 4_000_000,
    syncs: { due: 12, late: 3, oldestDueAt: ago(90) },
    deliveries: { waiting: 40, failing: 7, dropped: 5, oldestAt: ago(600) },
    mails: { waiting: 0, dropped: 0 },
    commands: { waiting: 1 },
    leases: { open: 2 },
  },
}

export const connection = (n: number, more: Partial<OpsConnections['connections'][number]> = {}) => ({
  id: uuid(n),
  appId: 'demo',
  userId: uuid(n + 500_000),
  userRef: `user-${n}`,
  provider: 'sandbox-assistant',
  status: 'active' as const,
  accountId: `account-${n}`,
  capturedAt: ago(n * 60),
  lastSyncAt: ago(n),
  revokedAt: null,
  nextSyncAt: ago(-600),
  working: false,
  outcome: 'complete +1',
  crashes: 0,
  quarantinedAt: null,
  conversationCount: n,
  progress: { stored: n, total: n, done: true },
  replaces: [],
  device: {},
  ...more,
})

export const delivery = (n: number, more: Partial<OpsDeliveries['deliveries'][number]> = {}) => ({
  id: uuid(n),
  deliveryId: uuid(n),
  event: 'data.imported',
  appId: 'demo',
  endpoint: 'https://partner.example',
  state: 'waiting' as const,
  attempts: [{ number: 1, at: ago(60), status: 500, durationMs: 12, error: 'answered 500', answer: 'oh \x1b[31mno' }],
  nextAttemptAt: ago(-60),
  createdAt: ago(n * 10),
  endedAt: null,
  body: JSON.stringify({ event: 'data.imported', payload: { userRef: `user-${n}`, connectionId: uuid(n) } }),
  ...more,
})

export const lease = (n: number): OpsLeases['leases'][number] => ({
  id: uuid(n),
  appId: 'demo',
  userRef: `user-${n}`,
  provider: 'sandbox-assistant',
  state: 'live',
  failure: null,
  nodeId: uuid(13),
  connectionId: null,
  viewerPresent: true,
  viewport: { width: 390, height: 844, deviceScaleFactor: 3, mobile: true },
  releaseRequestedAt: null,
  createdAt: ago(120),
  expiresAt: ago(-3_000),
  endedAt: null,
})

const actors: OpsActors = {
  processes: [
    {
      ...process('actors', 12),
      total: 600,
      actors: Array.from({ length: 500 }, (_, n) => ({
        path: `/${n % 2 === 0 ? 'connections' : 'deliveries'}/shard-0/${uuid(n)}`,
        kind: n % 2 === 0 ? ('connection' as const) : ('delivery' as const),
        state: 'working' as const,
        mailbox: n % 3,
        since: ago(n),
        doing: 'sync',
        crashes: 0,
      })),
    },
  ],
  quarantined: [{ id: uuid(7), appId: 'demo', crashes: 5, quarantinedAt: ago(60), outcome: 'crash' }],
}

const audit: OpsAudit = {
  entries: [
    {
      id: uuid(1),
      at: ago(5),
      by: { kind: 'operator', id: 'operator-key' },
      action: 'purge',
      appId: 'demo',
      target: uuid(2),
      details: { state: 'done' },
    },
  ],
}

/** A service of made-up answers that writes down what it is asked to do. */
export function fakeService() {
  const asked: { name: string; asked: unknown }[] = []
  /** What is answered, or may be waited for, or what makes it of what is asked. */
  const answers: Record<string, unknown> = {
    getOverview: overview,
    getActors: actors,
    listConnections: { connections: Array.from({ length: 50 }, (_, n) => connection(n + 1)) },
    getConnection: {
      connection: connection(1),
      syncs: [{ at: ago(9), outcome: 'complete +4' }],
      deliveries: [delivery(1)],
    },
    listLeases: { leases: [lease(1), lease(2)] },
    listDeliveries: {
      deliveries: [
        delivery(1),
        delivery(2, { state: 'delivered', attempts: [], endedAt: ago(1), nextAttemptAt: null }),
      ],
    },
    listAudit: audit,
    syncConnection: { ok: true, accepted: true },
    releaseLease: { ok: true, state: 'live' },
    retryDelivery: { ok: true, deliveryId: uuid(1), result: 'reopened' },
    purgePreview: { dryRun: true, connectionsRevoked: 1, conversationsDeleted: 3 },
    purge: { ok: true, connectionsRevoked: 1, conversationsDeleted: 3, deletedAt: ago(0) },
  }
  let lost: OpsError | null = null
  const client = async (name: string, options: { query?: Record<string, unknown> } = {}): Promise<unknown> => {
    asked.push({ name, asked: options })
    if (lost) throw lost
    const answer = answers[name === 'purge' && options.query?.['dryRun'] === 'true' ? 'purgePreview' : name]
    return typeof answer === 'function' ? answer(options) : answer
  }
  return {
    client: client as Parameters<typeof import('../../tui/dashboard.ts').createDashboard>[0]['client'],
    answers,
    /** Of one endpoint, what it was asked with; purges without those that only look. */
    askedOf: (name: string) => asked.filter((each) => each.name === name).map((each) => each.asked),
    lose: (error: OpsError | null) => {
      lost = error
    },
  }
}
