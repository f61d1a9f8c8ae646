import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A receiver in a process of its own, as a partner's is: answers 204 to everything, tells its parent its address over IPC. */
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send?.(`http://127.0.0.1:${port}/webhooks`)
})
process.on('disconnect', () => process.exit(0))
