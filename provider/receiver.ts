import type { Dispatcher } from 'undici'
import type { ByteShare } from '../core/byte-budget.ts'
import type { Clock } from '../core/clock.ts'
import { AnswerTooLargeError } from './errors.ts'
import { SMALL_BYTES } from './memory.ts'

/** Memory is asked for in steps of so much, and nothing is read until it is there. */
const STEP_BYTES = 1024 * 1024

interface Received {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** As it came, compressed or not. */
  body: Buffer
}

interface ReceiveOptions {
  dispatcher: Dispatcher
  url: string
  headers: Record<string, string>
  /** What is asked for, in words for error messages. */
  what: string
  maxBytes: number
  /** Of what comes; whoever opened it closes it. */
  memory: ByteShare
  clock: Pick<Clock, 'elapsed'>
}

/**
 * One GET, collected as it comes: without the streams and signals of undici's own calls, which cost more than a small answer does.
 * `received` throws `AnswerTooLargeError` beyond `maxBytes`, the reason of `cancel`, and the socket's own errors.
 */
export class Receiver implements Dispatcher.DispatchHandler {
  readonly received: Promise<Received>
  readonly #bounds: Pick<ReceiveOptions, 'what' | 'maxBytes' | 'memory' | 'clock'>
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #mayHold = SMALL_BYTES
  #waitedMs = 0
  #waitsSince: number | undefined
  #answered: Omit<Received, 'body'> = { status: 0, headers: {} }
  #transfer: Dispatcher.DispatchController | undefined
  #ending: Error | undefined
  #resolve!: (received: Received) => void
  #reject!: (error: Error) => void

  constructor({ dispatcher, url, headers, ...bounds }: ReceiveOptions) {
    this.#bounds = bounds
    this.received = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const { origin, pathname, search } = new URL(url)
    dispatcher.dispatch({ origin, path: pathname + search, method: 'GET', headers }, this)
  }

  /** Ends the transfer; does nothing after its end. */
  cancel(reason: Error): void {
    this.#ending = reason
    // A request that waits for a connection has no transfer to end yet.
    this.#reject(reason)
    this.#transfer?.abort(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#transfer = controller
    if (this.#ending) controller.abort(this.#ending)
  }

  /** Called for each informational answer (1xx) too: the last one counts. */
  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Received['headers']): void {
    this.#answered = { status, headers }
  }

  onResponseData(transfer: Dispatcher.DispatchController, chunk: Buffer): void {
    const { what, maxBytes } = this.#bounds
    this.#bytes += chunk.length
    if (this.#bytes > maxBytes) this.cancel(new AnswerTooLargeError(what, maxBytes))
    else {
      this.#chunks.push(chunk)
      if (this.#bytes > this.#mayHold) void this.#askForMore(transfer)
    }
  }

  async #askForMore(transfer: Dispatcher.DispatchController): Promise<void> {
    const { memory, maxBytes, clock } = this.#bounds
    transfer.pause()
    this.#mayHold = Math.min(this.#bytes + STEP_BYTES, maxBytes)
    this.#waitsSince = clock.elapsed()
    await memory.reach(this.#mayHold)
    this.#waitedMs += clock.elapsed() - this.#waitsSince
    this.#waitsSince = undefined
    if (!this.#ending) transfer.resume()
  }

  /** How long (machine ms) nothing was read, for want of memory: that is no fault of the provider's. */
  waitedMs(): number {
    const { clock } = this.#bounds
    return this.#waitedMs + (this.#waitsSince === undefined ? 0 : clock.elapsed() - this.#waitsSince)
  }

  onResponseEnd(): void {
    this.#resolve({ ...this.#answered, body: Buffer.concat(this.#chunks, this.#bytes) })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error)
  }
}
