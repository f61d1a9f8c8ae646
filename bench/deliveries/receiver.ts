import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A receiver in a process of its own, as a partner's is: answers 204 to everything, tells its parent its address over IPC, and when (`Date.now()`) the
 * first request comes after each message of its parent.
 */
let told = true
const server = createServer((request, response) => {
  if (!told) process.send?.(Date.now())
  told = true
  request.resume().on('end', () => response.writeHead(204).end())
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send?.(`http://127.0.0.1:${port}/webhooks`)
})
process.on('message', () => {
  told = false
})
process.on('disconnect', () => process.exit(0))
