import type { Dispatcher } from 'undici'
import { reasonOf } from './failure.ts'

/** docs/security.md, The network: at most 64 KiB of an answer is read, 1 KiB kept. */
const READ_LIMIT = 64 * 1_024
export const KEPT_LIMIT = 1_024

/** Those below are informational: the answer itself is still to come, or never comes (RFC 9110, 15.2). */
const FIRST_FINAL_STATUS = 200

/** What a terminal or a page could stumble over; tab and line feed may stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

/** The beginning of an answer as text of at most 1 KiB: no control or direction characters, none cut in half. */
export function keptText(bytes: Buffer): string {
  if (bytes.length === 0) return ''
  const text = new TextDecoder().decode(bytes.subarray(0, KEPT_LIMIT), { stream: true }).replace(UNSAFE, '')
  // Each byte that is not UTF-8 becomes a replacement character of three.
  return Buffer.from(text).length <= KEPT_LIMIT
    ? text
    : new TextDecoder().decode(Buffer.from(text).subarray(0, KEPT_LIMIT), { stream: true })
}

interface Answer {
  /** HTTP; absent where none came. */
  status?: number
  /** Its beginning. */
  text?: string
  /** Why it did not come whole, for people. */
  problem?: string
}

/**
 * Takes one answer of undici's as it comes: without the streams and signals of its own calls, which cost as much as a whole request does.
 * `end` closes the connection; where the answer was not there yet, that is its problem.
 */
export function takeAnswer(): {
  answer: Promise<Answer>
  end: (problem: string) => void
  handler: Dispatcher.DispatchHandler
} {
  const kept: Buffer[] = []
  let read = 0
  let known: Pick<Answer, 'status'> = {}
  let transfer: Dispatcher.DispatchController | undefined
  let ended: Error | undefined
  let resolve!: (answer: Answer) => void
  const answer = new Promise<Answer>((done) => {
    resolve = done
  })
  const succeed = (): void => resolve({ ...known, text: keptText(Buffer.concat(kept)) })
  const end = (problem: string): void => {
    resolve({ ...known, problem })
    ended = new Error(problem)
    // A request that waits for a connection has no transfer to end yet.
    transfer?.abort(ended)
  }
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (controller) => {
      transfer = controller
      if (ended) controller.abort(ended)
    },
    onResponseStart: (_, status) => {
      if (status >= FIRST_FINAL_STATUS) known = { status }
    },
    onResponseData: (_, chunk) => {
      if (read < KEPT_LIMIT) kept.push(chunk)
      read += chunk.length
      if (read < READ_LIMIT) return
      succeed()
      end('As much was read as is wanted')
    },
    onResponseEnd: succeed,
    onResponseError: (_, error) => resolve({ ...known, problem: reasonOf(error) }),
  }
  return { answer, end, handler }
}
