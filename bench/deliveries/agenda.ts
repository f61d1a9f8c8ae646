import { MongoBackend } from '@agendajs/mongo-backend'
import { Agenda } from 'agenda'
import { signAndPost } from './bare.ts'
import { onOwnDatabase, type Task } from './own-database.ts'

/** Agenda's own polling, as fast as it goes without harm to itself; its default is 5 s. */
const PROCESS_EVERY_MS = 50

/**
 * The same job by the `agenda` package: the jobs lie in the database; measures until the last of them is recorded as done.
 * Returns jobs per second.
 */
export const agenda = ({ url, bodies, atOnce }: Task): Promise<number> =>
  onOwnDatabase(async ({ db, agent }) => {
    const scheduler = new Agenda({
      backend: new MongoBackend({ mongo: db }),
      processEvery: PROCESS_EVERY_MS,
      maxConcurrency: atOnce,
      defaultConcurrency: atOnce,
    })
    try {
      scheduler.define<{ body: string }>('deliver', ({ attrs: { data } }) =>
        signAndPost({ agent, url, secret: 'bench-secret', body: data.body }),
      )
      await scheduler.ready
      await inParallel(bodies, 50, (body) => scheduler.now('deliver', { body }))
      let done = 0
      const all = new Promise<void>((resolve) => {
        scheduler.on('complete', () => {
          done += 1
          if (done === bodies.length) resolve()
        })
      })
      const began = performance.now()
      await scheduler.start()
      await all
      return bodies.length / ((performance.now() - began) / 1_000)
    } finally {
      await scheduler.stop()
    }
  })

async function inParallel<T>(list: T[], atOnce: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...list]
  const run = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, run))
}
