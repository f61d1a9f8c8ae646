import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Prepared, prepare } from '../../actors/archive/prepare.ts'
import { extractConversation } from '../../provider/branch.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const MB = 1_000_000
const COUNT = 30

/** What any of them holds in memory compresses to next to nothing. */
const make = {
  titles: (index: number) => conversation({ id: `c${index}`, title: 'a'.repeat(MB) }),
  ids: (index: number) => conversation({ id: `${index}${'a'.repeat(MB)}`, title: null }),
  names: (index: number) =>
    conversation({ id: `c${index}`, title: null, metadata: { attachments: [{ id: 'file-a', name: 'a'.repeat(MB) }] } }),
  files: (index: number) =>
    conversation({
      id: `c${index}`,
      title: null,
      metadata: { attachments: Array.from({ length: 15_000 }, (_, file) => ({ id: `${index}_${file}` })) },
    }),
}

const conversation = ({ id, title, metadata }: { id: string; title: string | null; metadata?: object }) => {
  const message = { author: { role: 'user' }, content: { parts: ['text'] }, metadata }
  return JSON.parse(JSON.stringify({ id, title, current_node: 'a', mapping: { a: { parent: null, message } } }))
}

const heap = (): number => {
  collect()
  return process.memoryUsage().heapUsed
}

for (const [name, one] of Object.entries(make)) {
  test(`a conversation takes no more memory than it counts for: ${name}`, async () => {
    await prepare({ extracted: extractConversation(one(COUNT)), raw: one(COUNT) })
    const before = heap()
    const held: Prepared[] = []
    for (let index = 0; index < COUNT; index++) {
      const raw = one(index)
      held.push(await prepare({ extracted: extractConversation(raw), raw }))
    }
    const taken = heap() - before
    const counted = held.reduce((sum, { bytes }) => sum + bytes, 0)
    assert.ok(taken < counted + 5 * MB, `${taken} bytes taken, ${counted} counted`)
  })
}

test.run()
