import { loadProfiles } from '../provider/load-profiles.ts'
import type { StartWork } from '../schemas/service-process.ts'
import { startBrowserPool } from './browser-pool.ts'
import { startGuardProxies } from './guard-proxy.ts'
import { startListener } from './listener.ts'
import { startNode } from './node.ts'

/** One farm node: its browsers, their way to the network, the listener for viewers, and the leases that it claims. */
export const startFarm: StartWork = async ({ runtime, parts, processId: nodeId }) => {
  const profiles = await loadProfiles(runtime.config)
  const browsers = parts.add(await startBrowserPool(runtime))
  const proxies = parts.add(await startGuardProxies(profiles))
  const listener = parts.add(await startListener({ runtime, nodeId }))
  const node = parts.add(
    startNode({ nodeId, nodeUrl: listener.url, runtime: { ...runtime, profiles, browsers, proxies } }),
  )
  listener.serve(node)
  return {
    url: listener.url,
    gauges: () => ({
      leases: node.size(),
      capacity: runtime.config.FARM_CAPACITY,
      failedRenewals: node.failedRenewals(),
    }),
    lacks: () => (browsers.works() ? null : 'No browser can be launched'),
  }
}
