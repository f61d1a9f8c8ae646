import { createApp } from '../../../../schemas/app/apps.ts'
import { type ActorWorld, startActorWorld } from '../../../support/actors.ts'
import { type Ask, asking, listen, MANY_REQUESTS } from '../../../support/http.ts'
import { type FaultyWrites, faultyWrites } from '../faulty-writes.ts'
import { endLapsedClaims } from './lapsed-claims.ts'

/** A partner's backend: what it knows of the service is what the API answers to its key. */
export interface ModelApp {
  appId: string
  ask: Ask
}

/** The actors and the API of the service in this process, for all histories together. */
export interface ModelWorld extends Pick<ActorWorld, 'site' | 'connect' | 'runtime'> {
  faults: FaultyWrites
  makeApp(appId: string): Promise<ModelApp>
  /** An app through which nobody ever connected. */
  stranger: ModelApp
  stop(): Promise<void>
}

export async function startModelWorld(): Promise<ModelWorld> {
  const actors = await startActorWorld({ timeScale: 2400 })
  const faults = faultyWrites()
  // What breaks is the actors: a request that failed would only be asked again.
  const api = await faults.spare(() => listen(actors.runtime))
  const lapsing = faults.spare(() => endLapsedClaims(actors.runtime))
  const makeApp = async (appId: string): Promise<ModelApp> => {
    const { apiKey } = await createApp({
      appId,
      name: appId,
      contactEmail: 'x@example.test',
      webhookUrl: actors.receiver.url,
      requestsPerMinute: MANY_REQUESTS,
      keyring: actors.keyring,
      now: actors.runtime.clock.now(),
      createdBy: 'test',
    })
    return { appId, ask: asking({ url: api.url, key: apiKey }) }
  }
  return {
    ...actors,
    faults,
    makeApp,
    stranger: await makeApp('stranger'),
    stop: async () => {
      faults.restore()
      await lapsing.stop()
      api.stop()
      await actors.stop()
    },
  }
}
