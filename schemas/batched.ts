/**
 * Lets calls that come while an earlier one is under way share the next one. A call never takes part in work that began before it, so
 * it sees whatever was acknowledged before it was made.
 */
export function batched<K, V>(load: (keys: K[]) => Promise<V[]>): (key: K) => Promise<V> {
  interface Waiting {
    key: K
    resolve: (value: V) => void
    reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  let underWay = false

  const run = async (): Promise<void> => {
    underWay = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        const values = await load(batch.map(({ key }) => key))
        for (const [index, { resolve }] of batch.entries()) resolve(values[index] as V)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    underWay = false
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (!underWay) void run()
    })
}
