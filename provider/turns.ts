/**
 * Runs a task beside others, or alone: then no other runs, and none begins until it has ended. `alone` is asked again
 * after each wait, since what another task brought may have changed the answer.
 */
type RunInTurn = <T>(task: () => Promise<T>, options: { alone: () => boolean }) => Promise<T>

export function createTurns(): RunInTurn {
  const running = new Set<Promise<void>>()
  let oneIsAlone = false
  let waitingToBeAlone = 0

  return async (task, { alone }) => {
    let counted = false
    let isAlone = alone()
    while (running.size > 0 && (isAlone || oneIsAlone || waitingToBeAlone > 0)) {
      if (isAlone && !counted) {
        waitingToBeAlone++
        counted = true
      }
      await Promise.race(running)
      isAlone = alone()
    }
    // Nothing is awaited between the look and the start, so that no two see the same free place.
    if (counted) waitingToBeAlone--
    oneIsAlone = isAlone
    const result = task()
    const leave = () => {
      running.delete(place)
      if (isAlone) oneIsAlone = false
    }
    const place: Promise<void> = result.then(leave, leave)
    running.add(place)
    return result
  }
}
