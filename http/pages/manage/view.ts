import type { App } from '../../../schemas/app/app.ts'
import { MANAGE_PAGE } from '../../access/link-visits.ts'
import { html, type Markup } from '../kit/html.ts'
import type { Texts } from '../kit/texts/en.ts'
import { heldConnections, type ManagedConnection } from './connections.ts'

const DELETE_PATH = `${MANAGE_PAGE.path}/delete`

/** A moment; the page's script shows it in the visitor's own time zone. */
function moment(at: Date, { language }: Texts): Markup {
  // English as it is understood everywhere: the day before the month.
  const format = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const
  const text = at.toLocaleString(language === 'en' ? 'en-GB' : language, format)
  return html`<time datetime="${at.toISOString()}">${text} UTC</time>`
}

interface Named {
  appName: string
  redirectUrl: string | undefined
  texts: Texts
}

/** What the app holds of the user, and the way to delete it. */
export function connectionsBody({ connections, ...named }: Named & { connections: ManagedConnection[] }): Markup {
  const { appName, texts } = named
  const { manage } = texts
  return html`<main class="manage">
<h1>${manage.heading(appName)}</h1>
${
  connections.length === 0
    ? html`<section class="card"><h2>${manage.nothingTitle}</h2><p>${manage.nothing(appName)}</p></section>`
    : html`<p class="lead">${manage.lead(appName)}</p>
<ul class="connections">
${connections.map((connection) => connectionCard(connection, named))}
</ul>`
}
${connections.length > 0 && deletionCard(heldConnections(connections).length > 0, texts)}
${returnLink(named)}
</main>`
}

const deletionCard = (anything: boolean, { manage }: Texts): Markup =>
  anything
    ? html`<section class="card danger">
<div><h2>${manage.deleteTitle}</h2>
<p>${manage.deleteText}</p></div>
<a class="button delete" href="${DELETE_PATH}">${manage.deleteAll}</a>
</section>`
    : html`<section class="card"><h2>${manage.nothingLeftTitle}</h2><p>${manage.nothingLeft}</p></section>`

function connectionCard(connection: ManagedConnection, named: Named): Markup {
  const { provider, status, capturedAt, lastSyncAt, conversationCount, accountMark, importing } = connection
  const { texts } = named
  const { manage, language } = texts
  return html`<li class="card connection" data-status="${status}"${importing !== null && status === 'active' && html` data-importing`}>
<div class="head"><h2>${provider}</h2><span class="pill">${manage.status[status]}</span></div>
<dl>
<div><dt>${manage.conversations}</dt><dd>${conversationCount.toLocaleString(language)}</dd></div>
<div><dt>${manage.lastSync}</dt><dd>${lastSyncAt ? moment(lastSyncAt, texts) : status === 'revoked' ? manage.never : manage.notYet}</dd></div>
<div><dt>${manage.connectedOn}</dt><dd>${moment(capturedAt, texts)}</dd></div>
<div><dt>${manage.account}</dt><dd><bdi>${accountMark}</bdi></dd></div>
</dl>
${note(connection, named)}
</li>
`
}

function note(connection: ManagedConnection, { appName, texts: { manage } }: Named) {
  const { provider, status, importing, conversationCount: stored, lastSyncAt } = connection
  const again = html`<p class="note">${manage.signInAgain({ app: appName, provider })}</p>`
  if (!importing) return status === 'needs_reauth' && again
  const { total } = importing
  const isActive = status === 'active'
  if (total === null) return isActive ? html`<p class="note">${importNote(connection, manage)}</p>` : again
  const most = Math.max(total, stored)
  return html`<div class="progress"><p>${isActive ? manage.importing(stored, most) : manage.imported(stored, most)}${isActive && !lastSyncAt && html` <span class="unseen">${manage.firstImportRuns}</span>`}</p>
<progress max="${most}" value="${stored}" aria-label="${manage.importedLabel}"></progress></div>${!isActive && again}`
}

function importNote({ lastSyncAt, conversationCount, syncing }: ManagedConnection, manage: Texts['manage']): string {
  if (lastSyncAt) return manage.importRuns
  return syncing || conversationCount > 0 ? manage.firstImportRuns : manage.importBegins
}

/** The question before everything is deleted. The harmless answer comes first. */
export function confirmBody({
  connections,
  app,
  flowId,
  texts: { manage },
}: {
  connections: ManagedConnection[]
  app: Pick<App, 'name' | 'webhookUrl'>
  flowId: string
  texts: Texts
}): Markup {
  const held = heldConnections(connections)
  const conversations = held.reduce((sum, { conversationCount }) => sum + conversationCount, 0)
  const providers = [...new Set(held.map(({ provider }) => provider))].join(', ')
  const what = manage.confirmText(
    html`<strong>${manage.countConversations(conversations)}</strong>`,
    html`<strong>${manage.countConnections(held.length)}</strong>`,
  )
  return html`<main class="manage narrow">
<section class="card confirm">
<h1>${manage.confirmTitle}</h1>
<p>${what}<strong>${manage.noUndo}</strong></p>
<ul>
<li>${app.webhookUrl !== undefined && manage.appIsTold(app.name)}${manage.copies(app.name)}</li>
<li>${manage.accountStays(providers)}</li>
</ul>
<form method="post" action="${DELETE_PATH}">
<input type="hidden" name="flow" value="${flowId}">
<a class="button plain" href="${MANAGE_PAGE.path}">${manage.keep}</a>
<button class="button delete">${manage.deleteEverything}</button>
</form>
</section>
</main>`
}

/** How the deletion ended. */
export function deletedBody({
  result,
  ...named
}: Named & { result: { connectionsRevoked: number; conversationsDeleted: number; deletedAt: string } }): Markup {
  const { connectionsRevoked, conversationsDeleted, deletedAt } = result
  const { appName, texts } = named
  const { manage } = texts
  const what = manage.deletedText(
    html`<strong>${manage.countConversations(conversationsDeleted)}</strong>`,
    html`<strong>${manage.countConnections(connectionsRevoked)}</strong>`,
    moment(new Date(deletedAt), texts),
  )
  return html`<main class="alone"><div class="panel">
<span class="sign" data-sign="done" aria-hidden="true"></span>
<h1>${manage.deletedTitle}</h1>
<p role="status">${connectionsRevoked === 0 ? manage.deletedBefore : what}</p>
<p>${manage.mayClose(appName)}</p>
${returnLink(named)}
</div></main>`
}

/** Shown while the deletion takes longer than the request waited; the answer's `Refresh` header brings the end. */
export const deletingBody = ({ manage }: Texts): Markup => html`<main class="alone"><div class="panel">
<span class="sign" aria-hidden="true"></span>
<h1>${manage.deleting}</h1>
<p role="status">${manage.deletingText}</p>
</div></main>`

const returnLink = ({ appName, redirectUrl, texts }: Named) =>
  redirectUrl !== undefined && html`<p class="return"><a href="${redirectUrl}">${texts.returnTo(appName)}</a></p>`
