import express, { type Request, type RequestHandler } from 'express'

/** Far more than any form of ours: 512 characters of a user reference are 6 KB where each of them takes four bytes. */
const FORM_LIMIT = '16kb'

/** Reads a form as browsers send it; throws `body_too_large`. */
export const formBody = (): RequestHandler => express.urlencoded({ extended: false, limit: FORM_LIMIT })

/** A field of the form; undefined where it is missing or was sent more than once. */
export function formField({ body }: Request, name: string): string | undefined {
  const value: unknown = typeof body === 'object' && body !== null && Object.hasOwn(body, name) ? body[name] : undefined
  return typeof value === 'string' ? value : undefined
}
