import type { Logger } from '../../core/log.ts'
import { extractConversation } from '../../provider/branch.ts'
import type { ListItem, ProviderClient } from '../../provider/client.ts'
import { ProviderContractError } from '../../provider/errors.ts'
import { type Prepared, prepare } from './prepare.ts'

/** Conversations of one page that are fetched at a time; the pace holds the rate, this hides the latency. */
const FETCHES_AT_ONCE = 4
/** One answer that cannot be used is that conversation's fault; so many in a row are the provider's. */
const UNUSABLE_IN_A_ROW = 5

export interface FetchOptions {
  client: ProviderClient
  log: Logger
  /** External ids whose answer could not be used; kept up here. */
  unread: Set<string>
  onConversation: (conversation: Prepared) => Promise<void>
  /** Told of what ends the fetching: whatever waits for its turn is not sent any more. */
  halt: (error: unknown) => void
}

/**
 * Fetches conversations side by side. One that vanished since it was listed is passed over, one whose answer cannot be used is noted
 * as unread. Throws the first error of any other kind after all that were under way have ended, so that nothing read is lost.
 */
export async function fetchConversations(
  { client, log, unread, onConversation, halt }: FetchOptions,
  items: Pick<ListItem, 'id' | 'updateTime'>[],
): Promise<void> {
  const waiting = [...items]
  let failure: { error: unknown } | undefined
  let unusable = 0

  const fetchOne = async ({ id, updateTime }: Pick<ListItem, 'id' | 'updateTime'>): Promise<void> => {
    try {
      const answer = await client.conversationAnswer(id)
      unusable = 0
      unread.delete(id)
      if (!answer) return
      const extracted = { ...extractConversation(answer.raw), externalId: id }
      await onConversation(await prepare({ extracted, ...answer, listedUpdateTime: updateTime }))
    } catch (error) {
      if (!(error instanceof ProviderContractError) || ++unusable >= UNUSABLE_IN_A_ROW) throw error
      unread.add(id)
      log.warn({ err: error }, 'a conversation could not be read')
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
