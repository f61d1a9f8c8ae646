/**
 * Takes up what was claimed, all of it at once: whatever holds up or ends the rest of a look, what was begun is held, and does not run out as if
 * its process had died. What had lapsed goes back in line, with what became of it: after the first time due at once.
 */
export async function takeUp<T extends { lapsed: boolean }>(
  claimed: T[],
  { begin, countCrash }: { begin: (one: T) => void; countCrash: (one: T) => Promise<void> },
): Promise<void> {
  for (const one of claimed) if (!one.lapsed) begin(one)
  await Promise.all(claimed.filter(({ lapsed }) => lapsed).map(countCrash))
}
