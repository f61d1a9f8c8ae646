import type { Answer } from './request.ts'
import type { wait } from './retry.ts'
import type { IngestResult } from './types.ts'

/** Twelve calls a minute leave most of the rate limit to the app's other calls. */
const ASK_EVERY_MS = 5000

type AwaitIngestOptions = {
  /** Answer of the upload: the counts, or that a long ingestion goes on. */
  answer: Answer
  /** Asks how the ingestion of this path stands. */
  ask: (path: string) => Promise<Answer>
  wait: typeof wait
  signal?: AbortSignal | undefined
}

/** A long ingestion outlives its request: the API then answers `state: running`, and is asked until it has the counts. */
export async function awaitIngest({ answer, ask, wait, signal }: AwaitIngestOptions): Promise<IngestResult> {
  let body = answer.body as IngestResult | { state: 'running'; ingestId: string }
  while ('state' in body && body.state === 'running') {
    await wait(ASK_EVERY_MS, signal)
    const path = `/api/ingest-export/${encodeURIComponent(body.ingestId)}`
    body = (await ask(path)).body as typeof body
  }
  return body as IngestResult
}
