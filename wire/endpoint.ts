import type { z } from 'zod'

/** What an operator key may do: `support` looks, purges, replays and syncs; `operator` does everything. */
export const OPERATOR_ROLES = ['support', 'operator'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** How a caller proves who asks: a Bearer key of an app, one of an operator with at least this role, or what the body itself carries. */
type Authentication =
  | { by: 'apiKey' }
  | { by: 'operatorKey'; least: OperatorRole }
  | { by: 'link or capture credential' }

export type Method = 'get' | 'post' | 'patch' | 'delete'

interface AnswerShape {
  description: string
  shape: z.ZodType
}

/** One method of one path: everything that routing, the API's description, the guide and clients have to know of it. */
export interface Endpoint {
  method: Method
  /** From the root, its parameters as `:name`. */
  path: `/${string}`
  /** A few words; the guide's heading. */
  summary: string
  /** The rest, for the guide; `code` in back quotes. */
  description?: string
  authentication: Authentication
  /** Counted against the app's requests a minute; every answer carries the RateLimit headers. */
  rateLimited?: true
  /** Answers carry an ETag; 304 where it is sent back. */
  tagged?: true
  /** Waits for work that others do: not bound to the seconds within which every other answer comes. */
  waits?: true
  params?: z.ZodObject
  query?: z.ZodObject
  /** A JSON object. */
  body?: z.ZodType
  bodyOptional?: true
  /** The body is an upload rather than JSON. */
  upload?: true
  /** The code of the error where a field of the query or body is absent; by default `invalid_parameter`. */
  missing?: Readonly<Record<string, string>>
  /** By status; the first is what a handler's answer is sent with. */
  answers: Readonly<Record<number, AnswerShape>>
  /** Codes of the errors that the description names, beside `internal`. */
  errors?: readonly string[]
}

export type Endpoints = Readonly<Record<string, Endpoint>>

type Output<S> = S extends z.ZodType ? z.output<S> : undefined
type Field<E, K extends string> = E extends { [_ in K]: infer S } ? S : undefined

/** What a handler is given, parsed. */
export type ParamsOf<E extends Endpoint> = Output<Field<E, 'params'>>
export type QueryOf<E extends Endpoint> = Output<Field<E, 'query'>>
export type BodyOf<E extends Endpoint> = Output<Field<E, 'body'>>
/** What is answered where nothing went wrong. */
export type AnswerOf<E extends Endpoint> = z.output<E['answers'][keyof E['answers'] & number]['shape']>

/** One answer, of status 200. */
export const answers200 = <S extends z.ZodType>(description: string, shape: S) =>
  ({ 200: { description, shape } }) as const
