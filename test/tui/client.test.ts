import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createClient } from '../../tui/client.ts'

test('an address without /ops is told as such', async () => {
  const server = createServer((_request, response) => response.writeHead(404).end('{"error":"Not found"}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    await createClient({ url, key: 'any' })('getOverview')
    assert.unreachable()
  } catch (error) {
    assert.equal(
      [(error as Error).name, (error as Error).message],
      ['OpsError', 'there is no /ops at this address (404)'],
    )
  } finally {
    server.close()
  }
})

test.run()
