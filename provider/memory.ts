import { type ByteBudget, type ByteShare, createByteBudget } from '../core/byte-budget.ts'

const MIB = 1024 * 1024

/** What is up to this is small beside what else a process holds, and is not counted: 200 syncs with four answers each have 200 MiB of it. */
export const SMALL_BYTES = MIB / 4

/**
 * Conversations and files of a provider that are not small, whether from its answers or from exports, which one process holds at a time: two of
 * the largest. With the text and the values made of its bytes a conversation takes several times as much as they do.
 */
export const providerMemory = createByteBudget(128 * MIB)

/** For what one answer or one conversation of an export takes: nothing while that is small. */
export function openMemory(budget: ByteBudget = providerMemory): ByteShare {
  let share: ByteShare | undefined
  return {
    reach: async (bytes) => {
      if (bytes <= SMALL_BYTES) return
      share ??= budget.open()
      await share.reach(bytes)
    },
    close: () => share?.close(),
  }
}
