import type { Processes } from '../schemas/operations/process-record.ts'
import { type IdRange, rangeOf } from './id-range.ts'

/** Which of all documents are this process's to begin with; undefined where it is alone. A hint: two that disagree for a while lose nothing. */
export type Share = () => IdRange | undefined

/** Documents go to the actors processes that run, each the same part of their ids. */
export const shareOf =
  ({ processId, processes }: { processId: string; processes: Processes }): Share =>
  () => {
    const running = processes().filter(({ kind, state }) => kind === 'actors' && state === 'running')
    const ids = running.map(({ _id }) => _id).sort()
    return rangeOf({ index: ids.indexOf(processId), count: ids.length })
  }
