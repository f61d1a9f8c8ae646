import type { Response } from 'express'

/** Aborts when the client goes away before it was answered: what only it waits for need not be waited for. */
export function goneSignal(response: Response): AbortSignal {
  const abort = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) abort.abort(new Error('the client went away'))
  })
  return abort.signal
}
