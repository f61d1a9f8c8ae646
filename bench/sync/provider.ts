import { type AddressInfo, createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createText } from '../api/text.ts'

/**
 * A provider without limits in a process of its own. Real ones are elsewhere and take nothing of this machine: so the answers were made,
 * compressed and given their headers before the first call, and are written to the socket as they are. What is measured is who reads it.
 * The path says how many conversations the account has, `/<count>/…`, and whether they come uncompressed: `/plain/<count>/…`.
 */
const MESSAGES = 12
const PAGE_SIZE = 100
const NEWEST_S = 1_760_000_000
const STEP_S = 60
const MESSAGE_WORDS = 60

function conversation(number: number): string {
  const id = `bench-${number}`
  const text = createText(number + 1)
  const updateTime = NEWEST_S - number * STEP_S
  const nodes = Array.from({ length: MESSAGES }, (_, index) => ({
    id: `${id}-${index}`,
    parent: index === 0 ? null : `${id}-${index - 1}`,
    children: index === MESSAGES - 1 ? [] : [`${id}-${index + 1}`],
    message: {
      id: `${id}-${index}`,
      author: { role: index % 2 === 0 ? 'user' : 'assistant', name: null },
      create_time: updateTime - MESSAGES + index,
      content: { content_type: 'text', parts: [text(MESSAGE_WORDS)] },
      status: 'finished_successfully',
      end_turn: true,
      metadata: { model_slug: 'bench' },
    },
  }))
  return JSON.stringify({
    id,
    title: `Conversation ${number}`,
    create_time: updateTime - MESSAGES,
    update_time: updateTime,
    current_node: `${id}-${MESSAGES - 1}`,
    mapping: Object.fromEntries(nodes.map((node) => [node.id, node])),
  })
}

const time = (number: number): string => new Date((NEWEST_S - number * STEP_S) * 1000).toISOString()
/** A whole answer of HTTP/1.1. */
const answerOf = (json: string, plain: boolean): Buffer => {
  const body = plain ? Buffer.from(json) : gzipSync(json)
  const encoding = plain ? [] : ['content-encoding: gzip']
  const headers = ['content-type: application/json', ...encoding, `content-length: ${body.length}`]
  return Buffer.concat([Buffer.from(`${['HTTP/1.1 200 OK', ...headers].join('\r\n')}\r\n\r\n`), body])
}
const made = { plain: new Map<number, Buffer>(), gzip: new Map<number, Buffer>() }
const conversationOf = (number: number, plain: boolean): Buffer => {
  const of = plain ? made.plain : made.gzip
  const known = of.get(number) ?? answerOf(conversation(number), plain)
  of.set(number, known)
  return known
}

function list(total: number, offset: number): string {
  const numbers = Array.from({ length: Math.max(0, Math.min(PAGE_SIZE, total - offset)) }, (_, index) => offset + index)
  const items = numbers.map((number) => ({
    id: `bench-${number}`,
    title: `Conversation ${number}`,
    create_time: time(number),
    update_time: time(number),
  }))
  return JSON.stringify({ items, total, limit: PAGE_SIZE, offset })
}

const PLAIN = '/plain'

function answer(path: string): Buffer {
  const plain = path.startsWith(PLAIN)
  const [, total = '0', kind = '', id = ''] = (plain ? path.slice(PLAIN.length) : path).split(/[/?]/)
  if (kind === 'session')
    return answerOf(JSON.stringify({ accessToken: 'token', user: { id: `account-${total}` } }), plain)
  if (kind === 'conversations') return answerOf(list(Number(total), Number(/offset=(\d+)/.exec(path)?.[1])), plain)
  return conversationOf(Number(id.slice('bench-'.length)), plain)
}

const END = '\r\n\r\n'
for (let number = 0; number < Number(process.argv[2]); number++)
  for (const plain of [true, false]) conversationOf(number, plain)
const server = createServer((socket) => {
  let come = ''
  socket.setNoDelay(true)
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    come += chunk.toString('latin1')
    for (let end = come.indexOf(END); end >= 0; end = come.indexOf(END)) {
      const [, path = '/'] = come.split(' ', 2)
      come = come.slice(end + END.length)
      socket.write(answer(path))
    }
  })
})
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.on('disconnect', () => process.exit(0))
