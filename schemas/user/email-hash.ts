import { createHmac } from 'node:crypto'
import type { Runtime } from '../../core/process.ts'
import type { App } from '../app/app.ts'
import { appKey } from '../app/apps.ts'

/** A keyed hash of a provider account's e-mail: it is never stored in clear (docs/behaviour.md, POST /api/connect-native). */
export function emailHashOf({
  app,
  email,
  runtime,
}: {
  app: Pick<App, '_id' | 'key'>
  email: string
  runtime: Pick<Runtime, 'keyring'>
}): string {
  const key = appKey(app, { keyring: runtime.keyring, purpose: 'email-hash' })
  return createHmac('sha256', key).update(email.trim().toLowerCase()).digest('hex')
}
