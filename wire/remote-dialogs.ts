import { z } from 'zod'

/** What a remote page, or the remote browser for it (`sign-in`: RFC 7617), asks of the visitor. */
export interface RemoteDialog {
  id: string
  kind: 'alert' | 'confirm' | 'prompt' | 'beforeunload' | 'sign-in'
  /** Host of the page that asks, or of what asks for a user and password. */
  site: string
  /** The page's own words, where it has any. */
  message: string
  /** What a `prompt` begins with. */
  value: string
}

export const dialogAnswer = z.strictObject({
  type: z.literal('answer'),
  id: z.string().max(40),
  accepted: z.boolean(),
  /** Of a `prompt`, or the user's name. */
  text: z.string().max(1_000).optional(),
  password: z.string().max(1_000).optional(),
})

export type DialogAnswer = z.infer<typeof dialogAnswer>
