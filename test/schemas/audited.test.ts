import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ServiceError } from '../../core/errors.ts'
import { AuditEntries, audited } from '../../schemas/operations/audit.ts'
import { connectedTestDatabase } from '../support/database.ts'

const trail = suite('what has to be found in the audit trail')
let database: { stop(): Promise<void> }

trail.before(async () => {
  database = await connectedTestDatabase()
})
trail.after(() => database.stop())
trail.before.each(() => AuditEntries.deleteMany({}).then(() => undefined))

const entry = { at: new Date(), by: { kind: 'operator', id: 'o' }, action: 'app.changed', details: { a: 1 } } as const
/** The code or message that `work` fails with. */
const failure = (work: () => Promise<unknown>): Promise<string> =>
  audited(entry, work).then(
    () => 'none',
    (error: Error) => error.message,
  )
const found = () => AuditEntries.find().lean()

trail('the entry is there before anything happens; its end is added', async () => {
  const result = await audited(
    entry,
    async () => {
      assert.equal((await found())[0]?.details, { a: 1, outcome: 'unconfirmed' })
      return 'done'
    },
    (said) => ({ target: 'x', details: { said } }),
  )
  assert.is(result, 'done')
  assert.equal(
    (await found()).map(({ target, details }) => [target, details]),
    [['x', { said: 'done' }]],
  )
})

trail('where nothing was changed there is no entry', async () => {
  await audited(
    entry,
    async () => 0,
    (count) => (count > 0 ? {} : null),
  )
  assert.is(await failure(() => Promise.reject(new ServiceError('last_owner'))), 'last_owner')
  assert.equal(await found(), [])
})

const rejections = { 'the database went away': new Error('gone'), 'it takes longer': new ServiceError('busy') }
for (const [what, error] of Object.entries(rejections)) {
  trail(`where nobody knows what came of it the entry says so: ${what}`, async () => {
    assert.is(await failure(() => Promise.reject(error)), error.message)
    assert.equal(
      (await found()).map(({ details }) => details),
      [{ a: 1, outcome: 'unconfirmed' }],
    )
  })
}

trail.run()
