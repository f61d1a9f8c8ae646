import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * Options for the server of an application, with which requests and answers are made as those that Express wants. Express gives each its own prototype
 * otherwise, and V8 keeps an object whose prototype was changed, with all that it refers to, until the next full collection.
 */
export function expressObjects(app: Express) {
  class AppRequest extends IncomingMessage {}
  class AppResponse<T extends IncomingMessage> extends ServerResponse<T> {}
  app.request = Object.setPrototypeOf(AppRequest.prototype, app.request)
  app.response = Object.setPrototypeOf(AppResponse.prototype, app.response)
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse }
}
