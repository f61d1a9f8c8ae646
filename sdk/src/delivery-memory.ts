/**
 * Which deliveries were handled already. Retries of a delivery keep its `deliveryId`, and an answer that got lost on the
 * way is a retry of something you handled, so a receiver drops what it knows.
 *
 * Give your own, kept in your database, where several processes receive webhooks or a restart must not forget: for
 * example an insert into a table with `delivery_id` as its primary key, `ON CONFLICT DO NOTHING`.
 */
export type DeliveryMemory = {
  /** Remembers the id; true when it was new. Must be atomic. */
  remember(deliveryId: string): boolean | Promise<boolean>
  /** The event could not be handled: forget it, so that its retry is taken as new. */
  forget(deliveryId: string): unknown
}

/** Remembers the newest `max` deliveries (default 10,000) in this process. */
export function deliveryMemory({ max = 10_000 }: { max?: number } = {}): DeliveryMemory {
  const ids = new Set<string>()
  return {
    remember(deliveryId) {
      if (ids.has(deliveryId)) return false
      ids.add(deliveryId)
      // A Set keeps the order of insertion, so its first value is the oldest.
      const [oldest] = ids
      if (ids.size > max && oldest !== undefined) ids.delete(oldest)
      return true
    },
    forget: (deliveryId) => ids.delete(deliveryId),
  }
}
