import type { Model } from 'mongoose'
import { Apps } from '../../schemas/app/app.ts'

/**
 * The newest documents of a collection that is ordered by app: read app by app, since an index of all of them by time would cost every
 * insert. Apps are few.
 */
export async function newestOf<T extends { createdAt: Date }>(
  model: Model<T>,
  { appId, filter = {}, limit }: { appId?: string | undefined; filter?: Record<string, unknown>; limit: number },
): Promise<T[]> {
  const appIds = appId === undefined ? (await Apps.find().select({ _id: 1 }).lean()).map(({ _id }) => _id) : [appId]
  const lists = await Promise.all(
    appIds.map((id) =>
      model
        .find({ appId: id, ...filter })
        .sort({ createdAt: -1 })
        .limit(limit)
        .lean<T[]>(),
    ),
  )
  return lists
    .flat()
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
    .slice(0, limit)
}
