import type { Request, RequestHandler, Response } from 'express'
import { inTime } from '../../kit/deadline.ts'
import type { HttpRuntime } from '../../kit/runtime.ts'
import type { Assets } from './assets.ts'

/** What the handlers of a page work with. */
export interface PageContext {
  runtime: HttpRuntime
  assets: Assets
}

/** One request to a page. */
export interface Exchange extends PageContext {
  request: Request
  response: Response
}

/**
 * A page's handler. Whatever it throws goes to the page's error page, and so does a handler that is not done in time, because the
 * database is silent: what it still does then comes too late to be sent.
 */
export const pageHandler =
  (context: PageContext, handle: (exchange: Exchange) => Promise<void> | void): RequestHandler =>
  async (request, response) =>
    inTime(Promise.resolve(handle({ ...context, request, response })), context.runtime)
