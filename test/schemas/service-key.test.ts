import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createKeyring } from '../../core/envelope.ts'
import { serviceKey } from '../../schemas/operations/service-key.ts'
import { connectedTestDatabase } from '../support/database.ts'

const keys = suite('keys that all processes share')
const database = await connectedTestDatabase()
keys.after(database.stop)

const [one, two, other] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer]

keys('processes that start at once have one key, through a rotation of the master key too', async () => {
  const keyrings = [
    createKeyring([one]),
    createKeyring([one]),
    createKeyring([one, two]),
    createKeyring([two, one]),
    createKeyring([two, one]),
  ]
  for (const purpose of ['first', 'second', 'third']) {
    const before = await serviceKey({ purpose, keyring: createKeyring([one]) })
    const found = await Promise.all(keyrings.map((keyring) => serviceKey({ purpose, keyring })))
    for (const key of found) assert.ok(key.equals(before))
  }
  const found = await Promise.all(
    Array.from({ length: 16 }, () => serviceKey({ purpose: 'at once', keyring: createKeyring([one]) })),
  )
  assert.is(new Set(found.map((key) => key.toString('hex'))).size, 1)
})

keys('one whose master key is configured no more is made anew', async () => {
  const lost = await serviceKey({ purpose: 'lost', keyring: createKeyring([one]) })
  const fresh = await serviceKey({ purpose: 'lost', keyring: createKeyring([other]) })
  assert.not.ok(fresh.equals(lost))
  assert.ok((await serviceKey({ purpose: 'lost', keyring: createKeyring([other]) })).equals(fresh))
})

keys.run()
