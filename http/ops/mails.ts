import { type Mail, Mails } from '../../schemas/mail/mail.ts'
import type { OpsMails } from '../../wire/ops.ts'
import { announceDeprecation } from '../actions/announce-deprecation.ts'
import type { OpsPart } from './handler.ts'
import { isoOrNull } from './iso.ts'

export const mailHandlers: OpsPart<'listMails' | 'announceDeprecation'> = (runtime) => ({
  listMails: async ({ query: { appId, state, limit } }) => {
    const filter = { ...(appId !== undefined && { appId }), ...(state !== undefined && { state }) }
    const mails = await Mails.find(filter as Record<string, unknown>)
      .select({ sealed: 0, key: 0 })
      .sort({ createdAt: -1 })
      .limit(limit)
      .lean<Mail[]>()
    return { mails: mails.map(view) }
  },
  announceDeprecation: async ({ body, by }) => ({
    ok: true,
    mails: await announceDeprecation({ ...body, by, runtime }),
  }),
})

const view = ({ _id, kind, appId, to, state, failures, claimableAt, createdAt }: Mail): OpsMails['mails'][number] => ({
  id: _id,
  kind,
  appId: appId ?? null,
  to,
  state,
  failures: failures.map(({ at, error }) => ({ at: at.toISOString(), error })),
  nextAttemptAt: isoOrNull(claimableAt),
  createdAt: createdAt.toISOString(),
})
