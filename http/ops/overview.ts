import type { Clock } from '../../core/clock.ts'
import { databaseAnswers } from '../../schemas/database.ts'
import { liveProcesses, type ProcessKind, type ProcessRecord } from '../../schemas/operations/process-record.ts'
import type { Overview } from '../../wire/ops.ts'
import { createCounts } from './counts.ts'
import type { OpsPart } from './handler.ts'

type ProcessView = Overview['processDetails'][number]

/** The processes that are alive, oldest first. */
export async function viewProcesses({ clock }: { clock: Clock }): Promise<ProcessView[]> {
  return (await liveProcesses(clock.now())).map(
    ({ _id, startedAt, seenAt, gauges, eventLoopLagMs, memoryBytes, ...record }: ProcessRecord) => ({
      id: _id,
      kind: record.kind,
      pid: record.pid,
      host: record.host,
      state: record.state,
      healthPort: record.healthPort,
      startedAt: startedAt.toISOString(),
      seenAt: seenAt.toISOString(),
      eventLoopLagMs,
      memoryBytes,
      gauges,
    }),
  )
}

export const overviewHandlers: OpsPart<'getOverview'> = (runtime) => {
  const { clock, config, profiles } = runtime
  const counts = createCounts({ clock })
  const getOverview = async (): Promise<Overview> => {
    const [details, database] = await Promise.all([viewProcesses({ clock }), databaseAnswers({ clock })])
    // Last: the counting that it may begin goes on behind the answer, not beside it.
    const counted = await counts()
    const pids = (kind: ProcessKind): number[] => details.filter((each) => each.kind === kind).map(({ pid }) => pid)
    return {
      environment: config.SERVICE_ENV,
      timeScale: config.TIME_SCALE,
      now: clock.now().toISOString(),
      database: { ok: database },
      processes: { http: pids('http'), actors: pids('actors'), 'browser-farm': pids('browser-farm') },
      processDetails: details,
      providers: profiles.map(({ id, displayName }) => ({ id, displayName })),
      counts: counted,
    }
  }
  return { getOverview }
}
