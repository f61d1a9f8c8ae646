import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Readable } from 'node:stream'

/**
 * Bytes of one message of a browser to this process. The picture of the largest screen takes a fifth of that; a page can make longer ones (what it
 * writes to its console, say), and one that is too long for a string would end this process, and the leases of all its visitors.
 */
const LONGEST_MESSAGE = 64 * 1_024 * 1_024

/** Where a browser that is told to use a pipe writes its messages, each ended by a zero (`--remote-debugging-pipe`). */
const OUTPUT = 4

/**
 * Ends the browser that `launch` starts when it sends a message that is too long. `mark` is an argument that only this browser is started with:
 * whoever starts it does not say which process it is.
 */
export async function withBoundedOutput<T>({ mark, launch }: { mark: string; launch: () => Promise<T> }): Promise<T> {
  const started: ChildProcess[] = []
  const note = (message: unknown): void => void started.push((message as { process: ChildProcess }).process)
  subscribe('child_process', note)
  try {
    const launched = await launch()
    bound(started.find(({ spawnargs }) => spawnargs.includes(mark)))
    return launched
  } finally {
    unsubscribe('child_process', note)
  }
}

function bound(browser: ChildProcess | undefined): void {
  const output = browser?.stdio[OUTPUT] as Readable | undefined
  if (!browser || !output) throw new Error('the process of a browser was not found')
  let length = 0
  output.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(0)
    length = end === -1 ? length + chunk.length : chunk.length - end - 1
    if (length > LONGEST_MESSAGE) browser.kill('SIGKILL')
  })
}
