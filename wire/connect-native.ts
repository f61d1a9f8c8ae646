import { z } from 'zod'
import { text } from './text.ts'

const DEVICE_VALUE_LENGTH = 80
/** As in a cookie that is split over several parts, with room to spare. */
const LONGEST_SESSION = 64 * 1_024
const LONGEST_TOKEN = 16 * 1_024

/** docs/behaviour.md, Limits: cut to 80 characters, never refused for its length. */
const deviceValue = z
  .string({ error: 'must be a string' })
  .refine((value) => !/\0|\p{Surrogate}/u.test(value), 'is no valid text')
  .transform((value) => [...value].slice(0, DEVICE_VALUE_LENGTH).join(''))

const deviceShape = z.object(
  {
    platform: deviceValue.optional(),
    osVersion: deviceValue.optional(),
    sdkVersion: deviceValue.optional(),
    model: deviceValue.optional(),
    appVersion: deviceValue.optional(),
  },
  'must be an object',
)

/** POST /api/connect-native, `start` */
export const nativeStartBody = z.object({
  action: z.literal('start'),
  token: z.string().describe('A connect link’s token'),
  device: deviceShape.optional().describe('Stored with the connection for support; each value is cut to 80 characters'),
})

/** 200 of `start` */
export const nativeStartAnswer = z.object({
  captureNonce: z.uuid(),
  clientSecret: z.string().describe('Returned once'),
  provider: z.string(),
  loginUrl: z.url(),
  cookieDomain: z.string(),
  cookieName: z.string().describe('The provider may split it into <cookieName>.0, <cookieName>.1, …'),
  sessionUrl: z.url(),
  expiresInSeconds: z.number().int(),
})

/** POST /api/connect-native, `capture` */
export const nativeCaptureBody = z.object({
  action: z.literal('capture'),
  captureNonce: text(64),
  clientSecret: text(256),
  sessionToken: text(LONGEST_SESSION).regex(/^[\x21-\x3a\x3c-\x7e]+$/, 'is no cookie value'),
  accessToken: text(LONGEST_TOKEN).optional().describe('Absent while login is incomplete'),
  providerAccountId: text(256).optional(),
  providerAccountEmail: text(320).optional().describe('Hashed on receipt, never stored in clear'),
})

/** 200 of `capture` */
export const nativeCaptureAnswer = z.discriminatedUnion('status', [
  z.object({ status: z.literal('connected'), connectionId: z.uuid() }),
  z.object({ status: z.literal('waiting'), reason: z.string().optional() }),
])

export type NativeStartAnswer = z.infer<typeof nativeStartAnswer>
export type NativeCaptureBody = z.infer<typeof nativeCaptureBody>
export type NativeCaptureAnswer = z.infer<typeof nativeCaptureAnswer>
