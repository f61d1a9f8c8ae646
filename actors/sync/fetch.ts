import type { Logger } from '../../core/log.ts'
import { extractConversation } from '../../provider/branch.ts'
import type { ListItem, ProviderClient } from '../../provider/client.ts'
import { ProviderContractError, ProviderUnavailableError } from '../../provider/errors.ts'
import { type Prepared, prepare } from '../archive/prepare.ts'

/** Conversations of one page that are fetched at a time; the pace holds the rate, this hides the latency. */
const FETCHES_AT_ONCE = 4
/** One conversation that is not to be had is that conversation's fault; so many in a row are the provider's. */
const FAILURES_IN_A_ROW = 5

interface FetchOptions {
  client: ProviderClient
  log: Logger
  /** External ids of what could not be had, whether for now (5xx, time limit) or as it is; kept up here. */
  unread: Set<string>
  /** The memory that a conversation takes is given back once this has ended. */
  onConversation: (conversation: Prepared) => Promise<void>
  /** Told of what ends the fetching: whatever waits for its permit is not sent any more. */
  halt: (error: unknown) => void
  /** So many in a row end the fetching. */
  failuresInARow?: number
}

/**
 * Fetches conversations side by side. One that vanished since it was listed is passed over, one that is not to be had is noted as
 * unread. Throws the first error of any other kind, or the last of many in a row, after all that were under way have ended, so that
 * nothing read is lost.
 */
export async function fetchConversations(
  { client, log, unread, onConversation, halt, failuresInARow = FAILURES_IN_A_ROW }: FetchOptions,
  items: Pick<ListItem, 'id' | 'updateTime'>[],
): Promise<void> {
  const waiting = [...items]
  let failure: { error: unknown } | undefined
  let failures = 0

  const fetchOne = async ({ id, updateTime }: Pick<ListItem, 'id' | 'updateTime'>): Promise<void> => {
    try {
      const answer = await client.conversationAnswer(id)
      failures = 0
      unread.delete(id)
      if (!answer) return
      try {
        const extracted = { ...extractConversation(answer.raw), externalId: id }
        await onConversation(await prepare({ extracted, ...answer, listedUpdateTime: updateTime }))
      } finally {
        answer.release()
      }
    } catch (error) {
      if (!(error instanceof ProviderContractError || error instanceof ProviderUnavailableError)) throw error
      // At the end of the line, so that those before it are asked for again first.
      unread.delete(id)
      unread.add(id)
      log.warn({ err: error }, 'a conversation could not be read')
      if (++failures >= failuresInARow) throw error
    }
  }
  const work = async (): Promise<void> => {
    for (let item = waiting.shift(); item && !failure; item = waiting.shift()) {
      await fetchOne(item).catch((error: unknown) => {
        failure ??= { error }
        halt(error)
      })
    }
  }
  await Promise.all(Array.from({ length: FETCHES_AT_ONCE }, work))
  if (failure) throw failure.error
}
