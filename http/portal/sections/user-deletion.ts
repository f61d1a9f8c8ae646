import { audited } from '../../../schemas/operations/audit.ts'
import type { User } from '../../../schemas/user/user.ts'
import { USER_REF_LENGTH } from '../../../wire/text.ts'
import { previewPurge, purge } from '../../actions/purge.ts'
import { goneSignal } from '../../kit/abort-signal.ts'
import { formField } from '../../pages/kit/form.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { sectionPath, sendAppPage } from '../kit/layout.ts'
import { buttonForm, card, counted, field, form } from '../kit/parts.ts'
import { goTo } from '../kit/redirect.ts'
import type { AppExchange } from '../kit/visit.ts'

const usersPath = ({ app }: AppExchange): string => sectionPath(app._id, 'users')

/** Where owners begin to delete everything of a user; `held`: there is something. */
export const deletionCard = (exchange: AppExchange, { _id }: User, held: boolean): Markup =>
  html`<section class="card danger"><div class="card-head"><div><h2>Delete everything of this user</h2>
<p class="soft">${
    held
      ? 'Their connections, conversations and files are deleted at once and for good.'
      : 'Nothing is held of this user any more. What a link under way still brings would be deleted too.'
  }</p></div>${buttonForm(exchange, { action: `${usersPath(exchange)}/${_id}/delete`, method: 'get', label: 'Delete data', kind: 'danger' })}</div></section>`

/** Says what would go, and asks for the reference to be typed. */
export async function askForDeletion(exchange: AppExchange, user: User, alert?: string): Promise<void> {
  const { app } = exchange
  const { connectionsRevoked, conversationsDeleted } = await previewPurge({
    appId: app._id,
    target: { userRef: user.userRef },
  })
  const path = `${usersPath(exchange)}/${user._id}`
  sendAppPage(exchange, {
    ...(alert !== undefined && { status: 400, alert }),
    section: 'users',
    title: 'Delete everything of this user?',
    body: card({ title: 'This cannot be undone' }, [
      html`<p><strong>${counted(conversationsDeleted, 'conversation')}</strong> and their files from <strong>${counted(
        connectionsRevoked,
        'connection',
      )}</strong> of <strong><bdi>${user.userRef}</bdi></strong> are deleted at once, and so are the sign-ins that they were imported with. Copies in your own systems stay.</p>`,
      form(exchange, { action: `${path}/delete`, className: 'stack' }, [
        field({
          label: 'Type the user reference to confirm',
          name: 'confirmation',
          invalid: alert !== undefined,
          required: true,
          maxLength: USER_REF_LENGTH,
          hint: html`It is <code>${user.userRef}</code>`,
        }),
        html`<div class="actions"><button class="button danger">Delete for good</button><a class="button plain" href="${path}">Keep the data</a></div>`,
      ]),
    ]),
  })
}

/** Deletes where the reference was typed, and says what went. */
export async function deleteData(exchange: AppExchange, user: User): Promise<void> {
  const { request, response, app, by, runtime } = exchange
  const { userRef } = user
  if (formField(request, 'confirmation') !== userRef)
    return askForDeletion(exchange, user, 'Nothing was deleted: what was typed is not the user reference.')
  const appId = app._id
  const { connectionsRevoked, conversationsDeleted } = await audited(
    { at: runtime.clock.now(), by, action: 'user.deleted', appId, target: userRef },
    () => purge({ appId, target: { userRef }, by, runtime, signal: goneSignal(response) }),
    (done) => ({
      details: { connectionsRevoked: done.connectionsRevoked, conversationsDeleted: done.conversationsDeleted },
    }),
  )
  const text =
    connectionsRevoked === 0
      ? 'Nothing was left: it had been deleted before.'
      : `${counted(conversationsDeleted, 'conversation')} and ${counted(connectionsRevoked, 'connection')} were deleted.`
  await goTo(exchange, `${usersPath(exchange)}/${user._id}`, { kind: 'status', text })
}
