import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ExportError } from '../../provider/errors.ts'
import { type ExportLimits, readExport } from '../../provider/export.ts'
import { collect, type ZipFileEntry, zipOf } from './zip.ts'

const test = suite<{ folder: string }>('export')
test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'export-'))
})
test.after(({ folder }) => rm(folder, { recursive: true }))

const conversation = (id: string) => ({ id, title: id, mapping: {} })
const array = (...ids: string[]) => JSON.stringify(ids.map(conversation))

/** What the reader is given: a file that is open. */
async function withFile<T>(path: string, data: string | Buffer, use: (file: FileHandle) => Promise<T>): Promise<T> {
  await writeFile(path, data)
  const file = await open(path)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

async function read(folder: string, data: string | Buffer | ZipFileEntry[], limits: Partial<ExportLimits> = {}) {
  return withFile(join(folder, 'upload'), Array.isArray(data) ? zipOf(data) : data, async (file) => {
    const { account, conversations } = await readExport({ file, limits })
    const ids: unknown[] = []
    for await (const { id } of conversations) ids.push(id)
    return { account, ids }
  })
}
async function failure(...options: Parameters<typeof read>): Promise<string> {
  try {
    await read(...options)
  } catch (error) {
    if (error instanceof ExportError) return error.message
    throw error
  }
  return 'accepted'
}

test('the array itself', async ({ folder }) => {
  assert.equal(await read(folder, array('a', 'b')), { account: null, ids: ['a', 'b'] })
  assert.equal(await read(folder, `\ufeff\n${array('a')}`), { account: null, ids: ['a'] })
  assert.equal(await read(folder, '[]'), { account: null, ids: [] })
})

test('a zip, deflated or stored, in a folder or not, with the account', async ({ folder }) => {
  const image = { name: 'file-1.png', data: Buffer.alloc(100) }
  const user = { name: 'user.json', data: JSON.stringify({ id: 'user-ada', email: 'ada@example.test', other: 1 }) }
  const account = { id: 'user-ada', email: 'ada@example.test' }
  const plain = [image, { name: 'conversations.json', data: array('a') }, user]
  assert.equal(await read(folder, plain), { account, ids: ['a'] })
  assert.equal(
    await read(
      folder,
      plain.map((file) => ({ ...file, stored: true, name: `My export/${file.name}` })),
    ),
    { account, ids: ['a'] },
  )
  // A user.json elsewhere is not the export's.
  const elsewhere = [...plain.slice(0, 2), { ...user, name: 'other/user.json' }]
  assert.equal(await read(folder, elsewhere), { account: null, ids: ['a'] })
})

test('the files of a large account in the order of their numbers', async ({ folder }) => {
  const files = [
    'conversations-010.json',
    'conversations-002.json',
    'conversations-000.json',
    'conversations-1000.json',
  ].map((name) => ({ name: `export/${name}`, data: array(name.slice(14, -5)) }))
  files.push({ name: 'export/deeper/conversations.json', data: array('not read') })
  assert.equal((await read(folder, files)).ids, ['000', '002', '010', '1000'])
})

test('conversations may be read again, and stopping early is fine', async ({ folder }) => {
  const path = join(folder, 'again')
  for (const data of [zipOf([{ name: 'conversations.json', data: array('a', 'b', 'c') }]), array('a', 'b', 'c')]) {
    await withFile(path, data, async (file) => {
      const { conversations } = await readExport({ file })
      for await (const { id } of conversations) {
        assert.is(id, 'a')
        break
      }
      assert.is((await collect(conversations)).length, 3)
    })
  }
})

test('what is no export is refused with the reason', async ({ folder }) => {
  const file = (data: string, more: Partial<ZipFileEntry> = {}) => [{ name: 'conversations.json', data, ...more }]
  const cases: [string | Buffer | ZipFileEntry[], string | RegExp][] = [
    ['', 'empty'],
    ['hello', 'neither a zip nor a JSON array'],
    ['{"conversations": []}', 'neither a zip nor a JSON array'],
    [Buffer.from('\x89PNG\r\n'), 'neither'],
    ['[1, 2]', 'element 1 of the array is no conversation'],
    [`[${JSON.stringify(conversation('a'))}, {"uuid": "b", "chat_messages": []}]`, 'element 2'],
    [[], 'no conversations.json'],
    [[{ name: 'notes.txt', data: 'x' }], 'no conversations.json'],
    [
      [
        { name: 'a/conversations.json', data: '[]' },
        { name: 'b/conversations.json', data: '[]' },
      ],
      'more than one export',
    ],
    [[...file('[]'), ...file('[]')], 'one file twice'],
    [file('{"a": 1}'), 'no JSON array'],
    [file(array('a').slice(0, -1)), 'ends too early'],
    [file(array('a'), { encrypted: true }), 'encrypted'],
    [file(array('a'), { claimedSize: 5 }), 'damaged'],
    [file(array('a'), { claimedSize: 5000 }), 'damaged'],
    [[...file('[]'), { name: 'user.json', data: '{' }], 'user.json is not JSON'],
    [[...file('[]'), { name: '../../etc/passwd', data: 'x' }], 'damaged'],
    [zipOf(file(array('a'))).subarray(0, -30), 'damaged'],
  ]
  for (const [data, reason] of cases) assert.match(await failure(folder, data), reason)
  const broken = zipOf(file(array(...Array.from({ length: 200 }, (_, i) => `conversation ${Math.sin(i)}`))))
  broken.fill(0xff, 200, 400)
  assert.match(await failure(folder, broken), /damaged|not JSON|UTF-8|array/)
})

test('limits hold', async ({ folder }) => {
  const bomb = [{ name: 'conversations.json', data: `[${' '.repeat(20 * 1024 * 1024)}]` }]
  assert.match(await failure(folder, bomb), 'more than 400 times')
  assert.match(await failure(folder, bomb, { maxRatio: 5000, maxInflatedBytes: 1000 }), 'inflates to more than 1000')
  assert.equal((await read(folder, bomb, { maxRatio: 5000 })).ids, [])
  assert.match(await failure(folder, [...bomb, { name: 'x', data: '' }], { maxEntries: 1 }), 'more than 1 files')
  assert.match(await failure(folder, array('a'.repeat(500)), { maxConversationBytes: 100 }), 'larger than 100 bytes')
})

test('an error of the file system stays one, and an abort is its own reason', async ({ folder }) => {
  const path = join(folder, 'aborted')
  const stop = new AbortController()
  for (const data of [zipOf([{ name: 'conversations.json', data: array('a', 'b') }]), array('a', 'b')]) {
    const closed = await withFile(path, data, async (file) => {
      const { conversations } = await readExport({ file, signal: stop.signal })
      stop.abort(new Error('stopping'))
      assert.is(await collect(conversations).catch((each: unknown) => each), stop.signal.reason)
      return file
    })
    const error = await readExport({ file: closed }).catch((each: unknown) => each)
    assert.is((error as NodeJS.ErrnoException).code, 'EBADF')
  }
})

test.run()
