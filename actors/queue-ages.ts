import { Gauge } from 'prom-client'
import { SECOND } from '../core/clock.ts'
import type { Runtime } from '../core/process.ts'
import { firstDue } from '../schemas/claims.ts'
import { Commands } from '../schemas/command/command.ts'
import { Connections } from '../schemas/connection/connection.ts'
import { firstDueLane } from '../schemas/delivery/delivery-lane.ts'
import { Leases } from '../schemas/lease/lease.ts'
import { Mails } from '../schemas/mail/mail.ts'

const NAME = 'ccs_queue_age_seconds'

/** `/metrics` shows how long the longest due of each queue has waited: one indexed read of each when it is asked. */
export function measureQueueAges({ metrics, clock }: Pick<Runtime, 'metrics' | 'clock'>): void {
  if (metrics.getSingleMetric(NAME)) return
  const queues: Record<string, (now: Date) => Promise<Date | undefined>> = {
    connections: (now) => firstDue(Connections, { now }),
    commands: (now) => firstDue(Commands, { now }),
    deliveries: (now) => firstDueLane({ now }),
    mails: (now) => firstDue(Mails, { now }),
    // Visitors who wait for a browser.
    leases: (now) => firstDue(Leases, { now }),
  }
  new Gauge({
    name: NAME,
    help: 'How long the longest due has waited',
    labelNames: ['queue'],
    registers: [metrics],
    async collect() {
      const now = clock.now()
      const ages = Object.entries(queues).map(async ([queue, firstOf]) => {
        const due = await firstOf(now)
        this.set({ queue }, due ? Math.max(0, now.getTime() - due.getTime()) / SECOND : 0)
      })
      // A database that is away is no reason to hide the other numbers.
      await Promise.allSettled(ages)
    },
  })
}
