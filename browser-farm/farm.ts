import { hostname } from 'node:os'
import type { Running, Runtime } from '../core/process.ts'
import { loadProfiles } from '../provider/load-profiles.ts'
import { databaseAnswers } from '../schemas/database.ts'
import { registerProcess } from '../schemas/operations/process-record.ts'
import { startBrowser } from './browser.ts'
import { startGuardProxies } from './guard-proxy.ts'
import { startListener } from './listener.ts'
import { type FarmNode, startNode } from './node.ts'

/** One farm node, on a database that is connected. */
export async function startFarm(runtime: Runtime): Promise<Running> {
  const { config, clock } = runtime
  const profiles = await loadProfiles(config)
  const browser = await startBrowser(runtime)
  const proxies = await startGuardProxies(profiles)
  let node: FarmNode | undefined
  const record = registerProcess({
    kind: 'browser-farm',
    host: hostname(),
    clock,
    gauges: () => ({ leases: node?.size() ?? 0, capacity: config.FARM_CAPACITY }),
  })
  const isReady = async (): Promise<boolean> => browser.current() !== undefined && (await databaseAnswers())
  const listener = await startListener({ runtime, nodeId: record.id, isReady })
  node = startNode({ nodeId: record.id, nodeUrl: listener.url, runtime: { ...runtime, profiles, browser, proxies } })
  listener.serve(node)
  return {
    url: listener.url,
    stop: async () => {
      await node.stop()
      await Promise.all([browser.stop(), proxies.stop(), listener.stop()])
      await record.stop()
    },
  }
}
