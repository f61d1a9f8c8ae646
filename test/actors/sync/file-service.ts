import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createProviderClient, type ProviderClient } from '../../../provider/client.ts'
import { sandboxProfile } from '../../../provider/profile.ts'
import { fastClock } from '../../provider/sandbox.ts'

/** What is answered for a file: its bytes, or a status at the call for its address or at the download. */
export type Served = Buffer | { call: number } | { download: number }

/** A provider that serves files and nothing else. */
export interface FileService {
  files: Map<string, Served>
  /** Answers every request with this status instead. */
  outage: number | null
  /** Files whose address was asked for, in order. */
  asked: string[]
  client: ProviderClient
  stop(): Promise<void>
}

export async function startFileService(): Promise<FileService> {
  const server = createServer((request, response) => {
    const [, id = '', download] = /^\/(?:backend-api\/)?files\/([^/]+)(\/download)?$/.exec(request.url ?? '') ?? []
    if (download) service.asked.push(id)
    const file = service.files.get(id) ?? { call: 404 }
    const failed =
      service.outage ?? (Buffer.isBuffer(file) ? null : 'call' in file ? file.call : download ? null : file.download)
    response.statusCode = failed ?? 200
    if (failed !== null) response.end()
    else if (download) response.end(JSON.stringify({ download_url: `http://${request.headers.host}/files/${id}` }))
    else response.setHeader('content-type', 'application/octet-stream').end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const service: FileService = {
    files: new Map(),
    outage: null,
    asked: [],
    client: createProviderClient({
      profile: sandboxProfile(`http://127.0.0.1:${port}`),
      credential: { cookie: 'cookie', accessToken: 'token' },
      clock: fastClock,
    }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return service
}
