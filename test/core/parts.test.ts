import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createLog } from '../../core/log.ts'
import { createParts } from '../../core/parts.ts'

const test = suite('parts of a process')
const log = createLog({ name: 'test', level: 'silent' })

test('parts are stopped last to first, one after the other, also where one of them fails', async () => {
  const parts = createParts({ log })
  const said: string[] = []
  parts.add({ stop: () => said.push('database') })
  parts.add({ stop: () => Promise.reject(new Error('stuck')) })
  parts.add({
    stop: async () => {
      said.push('listener closes')
      await new Promise((resolve) => setImmediate(resolve))
      said.push('listener closed')
    },
  })
  await parts.stop()
  assert.equal(said, ['listener closes', 'listener closed', 'database'])
})

test('a part that is added while they stop is stopped too, and none twice', async () => {
  const parts = createParts({ log })
  const said: string[] = []
  parts.add({ stop: () => void parts.add({ stop: () => said.push('late') }) })
  await parts.stop()
  await parts.stop()
  assert.equal(said, ['late'])
})

test.run()
