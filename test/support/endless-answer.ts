import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

/** What may come of an answer without an end, beside its body: the rest is repeated. */
export const WITHOUT_AN_END: Record<string, [begin: string, rest: string]> = {
  'informational answers': ['', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  'an extension of a chunk': [`${CHUNKED}5;`, 'a'],
  'the length of a chunk': [CHUNKED, '0'],
  'the words of a status': ['HTTP/1.1 200 ', 'a'],
  'empty lines': ['', '\r\n'],
  'a header': ['HTTP/1.1 200 OK\r\na: ', 'a'],
  trailers: [`${CHUNKED}0\r\n`, 'a: b\r\n'],
}

/** A server that answers every request so, until its connection is ended. */
export async function startEndlessAnswer([begin, rest]: [begin: string, rest: string]): Promise<{
  url: string
  /** Bytes of the rest, so far. */
  written(): number
  stop(): Promise<void>
}> {
  let written = 0
  const block = Buffer.from(rest.repeat(16_384 / rest.length))
  const server = createServer((socket) => {
    const pour = () => {
      while (!socket.destroyed && socket.write(block)) written += block.length
    }
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.on('drain', pour).write(begin)
      pour()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    written: () => written,
    stop: () => new Promise((done) => server.close(() => done())),
  }
}
