import { createTransport } from 'nodemailer'
import { SECOND } from '../../core/clock.ts'
import { parseUrl } from '../../core/parse-url.ts'
import { findBrowser } from '../set-up/browser.ts'
import { type Finding, fine, leftOut, reason, wrong } from './check.ts'

const MAIL_MS = 10 * SECOND

/** Whether there is a browser that runs; nothing is installed for it. */
export async function checkBrowser(chromiumPath: string | undefined): Promise<Finding> {
  try {
    const installNothing = AbortSignal.abort(new Error('nothing is installed by a check'))
    return fine('browser', await findBrowser({ log: () => undefined, chromiumPath, signal: installNothing }))
  } catch (error) {
    return wrong('browser', `${reason(error)}; install chromium, or set CHROMIUM_PATH to one that runs`)
  }
}

/** Whether the mail server takes this service's sign-in. No mail is sent. */
export async function checkMail({ url, needed }: { url: string | undefined; needed: boolean }): Promise<Finding> {
  if (url === undefined && needed) return wrong('mail', 'no SMTP_URL, without which actors do not start; set it')
  if (url === undefined) return leftOut('mail', 'no SMTP_URL; mails become files')
  // Node itself writes such an address to the log, with its password.
  if (!parseUrl(url)) return wrong('mail', 'SMTP_URL is no address; percent-encode its user and password')
  const transport = createTransport({
    url,
    connectionTimeout: MAIL_MS,
    greetingTimeout: MAIL_MS,
    socketTimeout: MAIL_MS,
  })
  try {
    await transport.verify()
    return fine('mail', 'the server takes the sign-in')
  } catch (error) {
    return wrong('mail', `the server refuses (${reason(error)}); check host, port, user and password in SMTP_URL`)
  } finally {
    transport.close()
  }
}
