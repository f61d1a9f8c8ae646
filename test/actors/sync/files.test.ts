import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fetchAttachments, noteAttachments } from '../../../actors/archive/attachments.ts'
import { DAY, HOUR, MINUTE, systemClock } from '../../../core/clock.ts'
import { unseal } from '../../../core/envelope.ts'
import { newId } from '../../../core/ids.ts'
import { createLog } from '../../../core/log.ts'
import { Attachments, attachmentId } from '../../../schemas/archive/attachment.ts'
import { ATTACHMENT_PURPOSE } from '../../../schemas/secrets.ts'
import { connectedTestDatabase } from '../../support/database.ts'
import { readAttachmentBytes } from '../../support/stored-file.ts'
import { type FileService, type Served, startFileService } from './file-service.ts'

const MIB = 1024 * 1024
const TIME_SCALE = 60

const fetching = suite('fetching files')
let service: FileService
let stop: () => Promise<void>
fetching.before(async () => {
  const database = await connectedTestDatabase()
  service = await startFileService()
  stop = async () => {
    await service.stop()
    await database.stop()
  }
})
fetching.after(() => stop())

/** An archive that refers to these files, and its syncs: each at the time (service ms) that has passed since the first. */
async function archiveWith(files: Record<string, Served>) {
  const archiveId = newId()
  const archiveKey = Buffer.alloc(32, 1)
  service.files = new Map(Object.entries(files))
  service.outage = null
  const clock = systemClock({ timeScale: TIME_SCALE })
  const begun = clock.now().getTime()
  const references = Object.keys(files).map((fileId) => ({ fileId, assetPointer: `file-service://${fileId}` }))
  await noteAttachments({ archiveId, files: references, now: clock.now() })
  return {
    /** Returns which files were asked for. */
    sync: async (at: number, { most = Number.POSITIVE_INFINITY } = {}): Promise<string[]> => {
      service.asked = []
      const options = {
        archiveId,
        archiveKey,
        runId: newId(),
        client: service.client,
        clock: { ...clock, now: () => new Date(begun + at / TIME_SCALE) },
        log: createLog({ level: 'silent', name: 'test' }),
        isOver: () => service.asked.length >= most,
        checkpoint: async () => undefined,
      }
      while ((await fetchAttachments(options)).settled > 0 && service.asked.length < most);
      return [...new Set(service.asked)]
    },
    states: async () => {
      const found = await Attachments.find({ archiveId }).lean()
      return Object.fromEntries(found.map(({ fileId, state }) => [fileId, state]))
    },
    bytesOf: async (fileId: string) => {
      const sealed = await readAttachmentBytes({ id: attachmentId({ archiveId, fileId }) })
      return unseal(archiveKey, { owner: archiveId, purpose: ATTACHMENT_PURPOSE }, sealed)
    },
  }
}

for (const outage of [503, 500, 403, 400])
  fetching(`a file service that answers ${outage} for hours loses no file`, async () => {
    const { sync, states, bytesOf } = await archiveWith({ one: Buffer.from('first'), two: Buffer.from('second') })
    service.outage = outage
    for (let at = 0; at < 6 * HOUR; at += 30 * MINUTE) await sync(at)
    assert.equal(await states(), { one: 'waiting', two: 'waiting' })
    service.outage = null
    await sync(7 * HOUR)
    assert.equal(await states(), { one: 'stored', two: 'stored' })
    assert.is((await bytesOf('two')).toString(), 'second')
  })

fetching('what the provider says is gone is missing at once, and not asked for again', async () => {
  const { sync, states } = await archiveWith({
    a: { call: 404 },
    b: { call: 410 },
    c: { download: 404 },
    d: { download: 410 },
  })
  await sync(0)
  assert.equal(await states(), { a: 'missing', b: 'missing', c: 'missing', d: 'missing' })
  assert.equal(await sync(HOUR), [])
})

for (const refusal of [{ call: 500 }, { call: 400 }, { download: 503 }])
  fetching(
    `a file that always answers ${JSON.stringify(refusal)} is given up after a week, and only then`,
    async () => {
      const { sync, states } = await archiveWith({ bad: refusal })
      for (const at of [0, HOUR, DAY, 2 * DAY, 4 * DAY, 6.9 * DAY]) assert.equal(await sync(at), ['bad'])
      assert.equal(await states(), { bad: 'waiting' })
      await sync(7 * DAY)
      assert.equal(await states(), { bad: 'given-up' })
      assert.equal(await sync(8 * DAY), [])
    },
  )

fetching('a file that was hardly asked for is not given up, however long ago it failed', async () => {
  const { sync, states } = await archiveWith({ bad: { call: 500 } })
  for (const at of [0, 30 * DAY, 31 * DAY, 32 * DAY]) await sync(at)
  assert.equal(await states(), { bad: 'waiting' })
  await sync(33 * DAY)
  assert.equal(await states(), { bad: 'given-up' })
})

fetching('files that cannot be had hold up no others, however little time each sync has', async () => {
  const bad = Array.from({ length: 5 }, (_, index): [string, Served] => [`a-bad-${index}`, { download: 503 }])
  const good = Array.from({ length: 5 }, (_, index): [string, Served] => [`b-good-${index}`, Buffer.from('bytes')])
  const { sync, states } = await archiveWith(Object.fromEntries([...bad, ...good]))
  for (let index = 0; index < 10; index++) await sync(index * HOUR, { most: 1 })
  const found = await states()
  for (const [fileId] of good) assert.is(found[fileId], 'stored')
})

fetching('a file of more than 25 MiB is noted, not stored, and not asked for again', async () => {
  const { sync, states } = await archiveWith({ large: Buffer.alloc(25 * MIB + 1), small: Buffer.from('bytes') })
  await sync(0)
  assert.equal(await states(), { large: 'too-large', small: 'stored' })
  assert.equal(await sync(HOUR), [])
})

fetching.run()
