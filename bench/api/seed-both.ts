import mongoose from 'mongoose'
import { seedConversations } from '../../test/support/seed.ts'

const BATCH = 1_000

/** Puts the same conversations into our collections and, text and all, into the one that the floor reads. */
export async function seedBoth(options: Parameters<typeof seedConversations>[0]): Promise<void> {
  const documents = await seedConversations(options)
  const whole = mongoose.connection.collection('bench_conversations')
  await whole.createIndex({ archiveId: 1, updateTime: -1, _id: -1 })
  for (let from = 0; from < documents.length; from += BATCH)
    await whole.insertMany(documents.slice(from, from + BATCH) as never[], { ordered: false })
}
