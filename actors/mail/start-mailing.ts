import { claimMany, firstDue } from '../../schemas/claims.ts'
import { ATTEMPTS } from '../../schemas/delivery/deliveries.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { failMail, forgetMail, type Mail, Mails, openMail } from '../../schemas/mail/mail.ts'
import { isKnown } from '../../schemas/member/team.ts'
import { retryDelay } from '../delivery/schedule.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { Supervisor } from '../supervision.ts'
import { startWorkPoller } from '../work-poller.ts'
import { createMailer, type Mailer } from './transport.ts'

/** How often mails that are due and found no room are looked at again (machine ms). */
const RETRY_MS = 250
/** Mails that one process sends at a time: mail servers take few connections of one client. */
const MAILS_AT_ONCE = 8

/** Sends the mails that are written down, each in an actor of its own, and tries again like a delivery what could not be sent. */
export function startMailing({ runtime, supervisor }: { runtime: ActorRuntime; supervisor: Supervisor }): {
  stop(reason: Error): Promise<void>
} {
  const { clock, log, config, held } = runtime
  const mailer = createMailer(config)

  const work = async (): Promise<number> => {
    const limit = MAILS_AT_ONCE - supervisor.size()
    if (limit <= 0) return 0
    const claimed = await claimMany<Mail>(Mails, { now: clock.now(), limit })
    for (const mail of claimed) {
      const letGo = held.hold(Mails, mail, () => undefined)
      void supervisor
        .tell(mail._id, 'mail', () => send({ mail, mailer, runtime }))
        .catch((error: unknown) => log.error({ err: error, mailId: mail._id }, 'a mail was left to its claim'))
        .finally(letGo)
    }
    return claimed.length
  }

  const nextDue = () => firstDue(Mails, { now: clock.now() })
  const poller = startWorkPoller({ kind: 'mails', retryMs: RETRY_MS, work, nextDue, runtime })
  return {
    stop: async (reason) => {
      await poller.stop()
      await supervisor.stop(reason)
      mailer.close()
    },
  }
}

/** One attempt. A claim counts as one, so that a process that dies at it makes no endless row of them. */
async function send({ mail, mailer, runtime }: { mail: Mail; mailer: Mailer; runtime: ActorRuntime }): Promise<void> {
  const { clock, keyring, log } = runtime
  // An address that nobody invited gets nothing, and only here is that known: the page that took it says the same to all.
  if (mail.kind === 'sign-in' && !(await isKnown({ email: mail.to, now: clock.now() }))) return forgetMail(mail)
  if (mail.fence > ATTEMPTS) {
    // Every process that claimed it died at it.
    return failMail({ mail, error: 'interrupted', retryAt: undefined, now: clock.now() })
  }
  try {
    await mailer.send({ id: mail._id, to: mail.to, ...openMail(mail, { keyring }) })
  } catch (error) {
    if (error instanceof ClaimLost) throw error
    const now = clock.now()
    const delay = retryDelay(mail.fence)
    const retryAt = delay === undefined ? undefined : clock.after(delay)
    const inTime = retryAt !== undefined && retryAt < mail.uselessAt
    log.warn({ mailId: mail._id, attempt: mail.fence, reason: reasonOf(error) }, 'a mail could not be sent')
    return failMail({ mail, error: reasonOf(error), retryAt: inTime ? retryAt : undefined, now })
  }
  await forgetMail(mail)
}

/** What operators are told: the kind of failure. A mail server's own words may repeat the address, so they stay out. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
  return [typeof code === 'string' ? code : error.name, responseCode].filter(Boolean).join(' ')
}
