import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { deliverUnderKills } from './killing.ts'

test('kill -9 at random moments: every event arrives, under one id, and not after its sixth failure', async () => {
  const report = await deliverUnderKills({ events: 300, kills: 4, timeScale: 2_400 })
  assert.is(report.delivered + report.dropped, 300)
})

test.run()
