import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DailyCounts } from '../../../schemas/app/daily-count.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { startHttpProcess } from '../../support/http-process.ts'

const counts = suite('counts for the charts')
let world: HttpWorld

counts.before(async () => {
  world = await startHttpWorld()
})
counts.after(() => world.stop())

counts('a process that is stopped writes down what it counted', async () => {
  const http = await startHttpProcess(world.env)
  for (let time = 0; time < 7; time += 1) await world.ask('/api/connections?userRef=nobody', { url: http.url })
  assert.is(await http.stop(), 0)
  const days = await DailyCounts.find({ appId: 'app-one' }).lean()
  assert.is(
    days.reduce((sum, { requests = 0 }) => sum + requests, 0),
    7,
  )
})

counts.run()
