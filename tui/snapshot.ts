import type { Client } from './client.ts'
import { cleanJson } from './text.ts'
import type { ViewName } from './view.ts'
import { VIEWS } from './views/all.ts'

/** What one view shows, as one line of JSON: the view, the time, and the fields of the service's own answers. Throws `OpsError`. */
export async function snapshot({ client, view }: { client: Client; view: ViewName }): Promise<string> {
  const data = await VIEWS[view].load(client, { q: '' })
  return cleanJson({ view, at: new Date().toISOString(), ...(data as object) })
}
