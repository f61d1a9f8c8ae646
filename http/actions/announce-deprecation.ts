import { DAY } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import { deprecationMail } from '../../schemas/mail/compose.ts'
import { writeMail } from '../../schemas/mail/mail.ts'
import { audited } from '../../schemas/operations/audit.ts'
import { DEPRECATION_DAYS } from '../../wire/ops-apps.ts'
import type { Act } from './act.ts'

/**
 * Mails a deprecation to the contact address of one app, or of all (docs/behaviour.md, Versioning). Returns how many mails are on their way.
 * Throws `app_not_found`, or `invalid_parameter` where the removal is less than 90 days away.
 */
export async function announceDeprecation({
  subject,
  message,
  removedAt,
  appId,
  by,
  runtime: { clock, keyring },
}: Act & { subject: string; message: string; removedAt: Date; appId?: string | undefined }): Promise<number> {
  const now = clock.now()
  if (removedAt.getTime() - now.getTime() < DEPRECATION_DAYS * DAY)
    throw new ServiceError('invalid_parameter', { name: 'removedAt', reason: `must be ${DEPRECATION_DAYS} days away` })
  const apps = await Apps.find(appId === undefined ? {} : { _id: appId })
    .select({ name: 1, contactEmail: 1 })
    .lean<Pick<App, '_id' | 'name' | 'contactEmail'>[]>()
  if (appId !== undefined && apps.length === 0) throw new ServiceError('app_not_found')
  for (const { _id, name, contactEmail } of apps) {
    const content = deprecationMail({ appName: name, subject, message, removedAt })
    const details = { subject, removedAt: removedAt.toISOString() }
    await audited({ at: now, by, action: 'deprecation.announced', appId: _id, target: contactEmail, details }, () =>
      writeMail({ kind: 'deprecation', appId: _id, to: contactEmail, content, keyring, now, usefulMs: DAY }),
    )
  }
  return apps.length
}
