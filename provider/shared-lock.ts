/**
 * A lock that is shared or exclusive: a task runs beside others, or alone, when no other runs and none begins until it has ended. `exclusive` is asked
 * again after each wait, since what another task brought may have changed the answer.
 */
type RunLocked = <T>(task: () => Promise<T>, options: { exclusive: () => boolean }) => Promise<T>

export function createSharedLock(): RunLocked {
  const running = new Set<Promise<void>>()
  let heldExclusively = false
  let exclusiveWaiting = 0

  return async (task, { exclusive }) => {
    let counted = false
    let isExclusive = exclusive()
    while (running.size > 0 && (isExclusive || heldExclusively || exclusiveWaiting > 0)) {
      if (isExclusive && !counted) {
        exclusiveWaiting++
        counted = true
      }
      await Promise.race(running)
      isExclusive = exclusive()
    }
    // Nothing is awaited between the look and the start, so that no two find the lock free.
    if (counted) exclusiveWaiting--
    heldExclusively = isExclusive
    const result = task()
    const release = () => {
      running.delete(ended)
      if (isExclusive) heldExclusively = false
    }
    const ended: Promise<void> = result.then(release, release)
    running.add(ended)
    return result
  }
}
