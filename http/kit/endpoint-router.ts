import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { ErrorCode } from '../../core/errors.ts'
import type { Principal } from '../../schemas/principal.ts'
import type { AnswerOf, BodyOf, Endpoint, Endpoints, Method, ParamsOf, QueryOf } from '../../wire/endpoint.ts'
import { takeUpload } from './body-time.ts'
import { principalOf } from './context.ts'
import { deadline } from './deadline.ts'
import { endpoint } from './endpoint.ts'
import { parseInput } from './input.ts'
import { jsonBody } from './json-body.ts'
import { onlyKnown } from './only-known.ts'
import type { HttpRuntime } from './runtime.ts'

/** A handler has sent its answer itself: text that was made before, or a stream. */
export const SENT = Symbol('sent')

/** One request to one endpoint. Its parts are checked against the table's shapes when they are read, and throw `ServiceError`. */
interface Call<E extends Endpoint> {
  readonly params: ParamsOf<E>
  readonly query: QueryOf<E>
  readonly body: BodyOf<E>
  /** Who asks; throws where the endpoint is authenticated by its body. */
  readonly by: Principal
  readonly request: Request
  readonly response: Response
}

/** Returns what is answered; with the endpoint's first status, unless it set another. */
type Handler<E extends Endpoint> = (call: Call<E>) => Promise<AnswerOf<E> | typeof SENT>

/** A handler for every endpoint of a table: a missing one does not compile. */
export type Handlers<T extends Endpoints> = { readonly [N in keyof T]: Handler<T[N]> }

/**
 * The routes of a table. `guard` gives the middleware that an endpoint's authentication asks for. Guards come before the body, so
 * that nobody's is read for nothing; the time within which the answer has to come begins when the body is there. Other methods of a path are answered 405.
 */
export function endpointRouter<T extends Endpoints>({
  endpoints,
  handlers,
  under,
  guard,
  exact = false,
  runtime,
}: {
  endpoints: T
  handlers: Handlers<T>
  /** Where the router is mounted. */
  under: string
  guard: (endpoint: Endpoint) => RequestHandler[]
  /** Whoever changes something is told of a field that is not known, which is left out of account elsewhere. */
  exact?: boolean
  runtime: Pick<HttpRuntime, 'clock'>
}): Router {
  const router = Router()
  const soon = deadline(runtime)
  const byPath = new Map<string, Partial<Record<Method, RequestHandler[]>>>()
  for (const name of Object.keys(endpoints) as (keyof T & string)[]) {
    const each: Endpoint = endpoints[name] as T[typeof name]
    const { path, method, body, bodyOptional = false, waits, upload } = each
    const handlersOfPath = byPath.get(path) ?? {}
    handlersOfPath[method] = [
      ...(body || waits ? [] : [soon]),
      ...guard(each),
      ...(body ? jsonBody({ optional: bodyOptional }) : []),
      ...(body && !waits ? [soon] : []),
      ...(upload ? [uploading] : []),
      ...(exact && method !== 'get' ? [onlyKnown(each)] : []),
      answering(each, handlers[name] as Handler<Endpoint>),
    ]
    byPath.set(path, handlersOfPath)
  }
  for (const [path, methods] of byPath) endpoint(router, path.slice(under.length), methods)
  return router
}

/** Only after the guards: whoever is not known gets no more time than for any other body. */
const uploading: RequestHandler = (request, _response, next) => {
  takeUpload(request)
  next()
}

function answering(endpoint: Endpoint, handler: Handler<Endpoint>): RequestHandler {
  const [status] = Object.keys(endpoint.answers).map(Number)
  return async (request, response) => {
    const answer = await handler(callOf(endpoint, request, response))
    if (answer === SENT) return
    if (response.statusCode === 200 && status !== undefined) response.status(status)
    response.json(answer)
  }
}

function callOf({ params, query, body, missing }: Endpoint, request: Request, response: Response): Call<Endpoint> {
  const codes = { missing: (missing ?? {}) as Record<string, ErrorCode> }
  return {
    get params() {
      return params && parseInput(params, request.params, codes)
    },
    get query() {
      return query && parseInput(query, request.query, codes)
    },
    get body() {
      return body && parseInput(body, request.body, codes)
    },
    get by() {
      return principalOf(request)
    },
    request,
    response,
  } as Call<Endpoint>
}
