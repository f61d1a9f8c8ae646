import { z } from 'zod'
import { isStorable, LONGEST_ID, line, moment, text } from './text.ts'

/** Neither `URL.parse` nor `URL.canParse`: the older of the supported Node versions lack the one and get the other wrong. */
function namesNoUser(address: string): boolean {
  try {
    const { username, password } = new URL(address)
    return username === '' && password === ''
  } catch {
    return false
  }
}

const address = z
  .string()
  .max(2_048)
  .regex(/^https?:\/\//, 'must be an http or https address')
  .refine(namesNoUser, 'must be an http or https address')

/** It stands in subjects of mails and in pages' titles. */
const LONGEST_NAME = 80

/** What of an app can be given at onboarding and changed later; null removes an optional one. */
const appFields = {
  appName: line(LONGEST_NAME),
  contactEmail: z.email('must be an e-mail address'),
  logoUrl: address.nullable(),
  primaryColor: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, 'must be a hex colour such as #3355ff')
    .nullable(),
  webhookUrl: address.nullable(),
  requestsPerMinute: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(1_000_000, 'must be at most 1000000'),
  connectEndedEvents: z.boolean('must be true or false').describe('Whether `connect.ended` is sent'),
}

/** POST /ops/apps */
export const newAppBody = z.strictObject({
  appId: text(LONGEST_ID).regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 of A-Z, a-z, 0-9, ".", "_", "-"'),
  appName: appFields.appName,
  contactEmail: appFields.contactEmail,
  ownerEmail: z.email('must be an e-mail address'),
  logoUrl: appFields.logoUrl.optional(),
  primaryColor: appFields.primaryColor.optional(),
  webhookUrl: appFields.webhookUrl.optional(),
  requestsPerMinute: appFields.requestsPerMinute.optional(),
  connectEndedEvents: appFields.connectEndedEvents.optional(),
})

/** 201 of POST /ops/apps: shown this once. */
export const newAppAnswer = z.object({
  appId: z.string(),
  appSecret: z.string(),
  apiKey: z.string(),
  webhookSecret: z.string(),
  signInUrl: z.url().describe('Signs the first owner in to the portal, once within seven days; mailed to them too'),
})

/** POST /ops/apps/:appId/invite */
export const inviteBody = z.strictObject({
  email: z.email('must be an e-mail address').max(254, 'is longer than 254 characters'),
  role: z.enum(['developer', 'owner'], 'must be developer or owner'),
})

/** 201 of it: the link is shown this once. */
export const inviteAnswer = z.object({
  email: z.string(),
  role: z.string(),
  expiresAt: z.iso.datetime(),
  signInUrl: z.url(),
})

/** What a deprecation says must keep working for so long (docs/behaviour.md, Versioning). */
export const DEPRECATION_DAYS = 90

/** POST /ops/deprecations: to the contact address of one app, or of all. */
export const deprecationBody = z.strictObject({
  subject: line(120),
  message: z
    .string()
    .trim()
    .min(1, 'is empty')
    .max(10_000, 'is longer than 10000 characters')
    .refine(isStorable, 'is no valid text'),
  removedAt: moment,
  appId: text(LONGEST_ID).optional(),
})
export const deprecationAnswer = z.object({ ok: z.literal(true), mails: z.number().int().min(0) })

/** PATCH /ops/apps/:appId */
export const changedAppBody = z.strictObject(appFields).partial()

const appShape = z.object({
  appId: z.string(),
  appName: z.string(),
  contactEmail: z.string(),
  logoUrl: z.string().nullable(),
  primaryColor: z.string().nullable(),
  webhookUrl: z.string().nullable(),
  requestsPerMinute: z.number().int(),
  connectEndedEvents: z.boolean(),
  activeApiKeys: z.number().int().min(0),
  discardedEvents: z.number().int().min(0).describe('Events that went nowhere, because the app had no webhook URL'),
  lastDiscardedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
})

/** GET /ops/apps, and PATCH /ops/apps/:appId with the one that was changed */
export const appsAnswer = z.object({ apps: z.array(appShape) })
export const appAnswer = appShape

/** POST /ops/apps/:appId/test-event: null where the app has no webhook URL */
export const testEventAnswer = z.object({ ok: z.literal(true), deliveryId: z.uuid().nullable() })

export type OpsApp = z.infer<typeof appShape>
export type NewAppBody = z.infer<typeof newAppBody>
export type ChangedAppBody = z.infer<typeof changedAppBody>
