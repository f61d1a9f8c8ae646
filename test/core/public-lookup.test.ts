import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { publicLookup } from '../../core/public-lookup.ts'

const looking = suite('public look-ups')

const PUBLIC_V4 = [93, 184, 215, 14]
const ADDRESSES: Record<string, number[]> = { good: PUBLIC_V4, inward: [10, 0, 0, 1], half: PUBLIC_V4 }
const [QUESTION, TYPE_A] = [12, 1]

/** The first label of the name that a query asks for, where its question ends, and its type. */
function questionOf(query: Buffer): { label: string; end: number; type: number } {
  const length = query[QUESTION] ?? 0
  const end = query.indexOf(0, QUESTION) + 5
  return {
    label: query.toString('latin1', QUESTION + 1, QUESTION + 1 + length),
    end,
    type: query.readUInt16BE(end - 4),
  }
}

const asked: string[] = []

/** Knows three names, is silent about those that begin with `silent` and about all but IPv4 of `half`, and says of all others that there are none. */
function answerTo(query: Buffer): Buffer | null {
  const { label, end, type } = questionOf(query)
  asked.push(label)
  if (label.startsWith('silent') || (label === 'half' && type !== TYPE_A)) return null
  const address = ADDRESSES[label]
  const data = address && type === TYPE_A ? [0xc0, QUESTION, 0, type, 0, 1, 0, 0, 0, 0, 0, 4, ...address] : []
  const flags = address ? 0x8180 : 0x8183
  const header = [flags >> 8, flags & 0xff, 0, 1, 0, data.length > 0 ? 1 : 0, 0, 0, 0, 0]
  return Buffer.concat([query.subarray(0, 2), Buffer.from(header), query.subarray(QUESTION, end), Buffer.from(data)])
}

let server: Socket
let find: (name: string) => Promise<unknown>
looking.before(async () => {
  server = createSocket('udp4', (query, { port, address }) => {
    const answer = answerTo(query)
    if (answer) server.send(answer, port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  const lookup = publicLookup({ servers: [`127.0.0.1:${server.address().port}`] })
  find = (name) => promisify(lookup)(name, { all: true })
})
looking.after(() => {
  server.close()
})

const codeOf = (finding: Promise<unknown>): Promise<unknown> =>
  finding.then(
    () => 'found',
    ({ code }: NodeJS.ErrnoException) => code,
  )

looking('a name is found at its public addresses, or not at all', async () => {
  assert.equal(await find('good.example.com'), [{ address: PUBLIC_V4.join('.'), family: 4 }])
  assert.is(await codeOf(find('inward.example.com')), 'ERR_ADDRESS_NOT_PUBLIC')
  assert.is(await codeOf(find('nobody.example.com')), 'ENOTFOUND')
})

looking('names whose servers keep silent hold up no other', async () => {
  let silent = 64
  const waiting = Array.from({ length: silent }, async (_, index) => {
    const code = await codeOf(find(`silent${index}.example.com`))
    silent -= 1
    return code
  })
  await find('good.example.com')
  assert.is(silent, 64)
  assert.equal([...new Set(await Promise.all(waiting))], ['EAI_AGAIN'])
})

looking('a name whose servers keep silent about one family is found before they are asked again', async () => {
  assert.equal(await find('half.example.com'), [{ address: PUBLIC_V4.join('.'), family: 4 }])
  assert.is(asked.filter((label) => label === 'half').length, 2)
})

looking.run()
