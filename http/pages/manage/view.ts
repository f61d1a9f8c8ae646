import type { App } from '../../../schemas/app/app.ts'
import type { ConnectionStatus } from '../../../schemas/connection/connection.ts'
import { MANAGE_PAGE } from '../../access/link-visits.ts'
import { html, type Markup } from '../kit/html.ts'
import { heldConnections, type ManagedConnection } from './connections.ts'

const DELETE_PATH = `${MANAGE_PAGE.path}/delete`

const STATUS: Record<ConnectionStatus, string> = {
  active: 'Connected',
  needs_reauth: 'Sign-in needed',
  revoked: 'Disconnected',
}

const number = (value: number): string => value.toLocaleString('en')

const counted = (value: number, noun: string): string => `${number(value)} ${noun}${value === 1 ? '' : 's'}`

const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** A moment; the page's script shows it in the visitor's own time zone. */
const moment = (at: Date): Markup => html`<time datetime="${at.toISOString()}">${utc.format(at)} UTC</time>`

/** What the app holds of the user, and the way to delete it. */
export function connectionsBody({
  connections,
  appName,
  redirectUrl,
}: {
  connections: ManagedConnection[]
  appName: string
  redirectUrl: string | undefined
}): Markup {
  return html`<main class="manage">
<h1>Your data in ${appName}</h1>
${
  connections.length === 0
    ? html`<section class="card"><h2>Nothing is connected</h2><p>You have not connected an assistant to ${appName}, so nothing of yours is kept here.</p></section>`
    : html`<p class="lead">The assistants that you connected to ${appName}, and what was imported from them.</p>
<ul class="connections">
${connections.map((connection) => connectionCard(connection, appName))}
</ul>`
}
${connections.length > 0 && deletionCard(heldConnections(connections).length > 0)}
${returnLink({ appName, redirectUrl })}
</main>`
}

const deletionCard = (anything: boolean): Markup =>
  anything
    ? html`<section class="card danger">
<div><h2>Delete all data</h2>
<p>Deletes every imported conversation and disconnects every assistant above. You are asked once more.</p></div>
<a class="button delete" href="${DELETE_PATH}">Delete all my data…</a>
</section>`
    : html`<section class="card"><h2>Nothing is left to delete</h2><p>No conversation and no sign-in of yours is kept here.</p></section>`

function connectionCard(connection: ManagedConnection, appName: string): Markup {
  const { provider, status, capturedAt, lastSyncAt, conversationCount } = connection
  return html`<li class="card connection" data-status="${status}">
<div class="head"><h2>${provider}</h2><span class="pill">${STATUS[status]}</span></div>
<dl>
<div><dt>Conversations</dt><dd>${number(conversationCount)}</dd></div>
<div><dt>Last sync</dt><dd>${lastSyncAt ? moment(lastSyncAt) : status === 'revoked' ? 'Never' : 'Not yet'}</dd></div>
<div><dt>Connected on</dt><dd>${moment(capturedAt)}</dd></div>
</dl>
${note(connection, appName)}
</li>
`
}

function note({ provider, status, importing, conversationCount, lastSyncAt }: ManagedConnection, appName: string) {
  const again = html`<p class="note">${provider} asks for a new sign-in. Connect again from ${appName} to go on importing; what was imported stays.</p>`
  if (!importing) return status === 'needs_reauth' && again
  const { total } = importing
  const most = Math.max(total ?? 0, conversationCount)
  return html`${
    total !== null
      ? html`<div class="progress"><p>${status === 'active' ? 'Importing your history' : 'Imported so far'}: ${number(conversationCount)} of about ${counted(most, 'conversation')}</p>
<progress max="${most}" value="${conversationCount}" aria-label="History imported"></progress></div>`
      : status === 'active' &&
        html`<p class="note">${
          lastSyncAt || conversationCount > 0
            ? 'Your history is being imported; more will appear here.'
            : 'The first import begins within a minute.'
        }</p>`
  }${status === 'needs_reauth' && again}`
}

/** The question before everything is deleted. */
export function confirmBody({
  connections,
  app,
  flowId,
}: {
  connections: ManagedConnection[]
  app: Pick<App, 'name' | 'webhookUrl'>
  flowId: string
}): Markup {
  const held = heldConnections(connections)
  const conversations = held.reduce((sum, { conversationCount }) => sum + conversationCount, 0)
  const providers = [...new Set(held.map(({ provider }) => provider))].join(', ')
  return html`<main class="manage narrow">
<section class="card confirm">
<h1>Delete all your data?</h1>
<p><strong>${counted(conversations, 'conversation')}</strong> and their files from <strong>${counted(held.length, 'connection')}</strong> are deleted at once, and so are the sign-ins that they were imported with. <strong>This cannot be undone.</strong></p>
<ul>
<li>${app.webhookUrl !== undefined && html`${app.name} is told about the deletion. `}Copies that ${app.name} made elsewhere are not reached from here.</li>
<li>Your account at ${providers} stays as it is.</li>
</ul>
<form method="post" action="${DELETE_PATH}">
<input type="hidden" name="flow" value="${flowId}">
<a class="button plain" href="${MANAGE_PAGE.path}">Keep my data</a>
<button class="button delete">Delete everything</button>
</form>
</section>
</main>`
}

/** How the deletion ended. */
export function deletedBody({
  result,
  appName,
  redirectUrl,
}: {
  result: { connectionsRevoked: number; conversationsDeleted: number; deletedAt: string }
  appName: string
  redirectUrl: string | undefined
}): Markup {
  const { connectionsRevoked, conversationsDeleted, deletedAt } = result
  return html`<main class="alone"><div class="panel">
<span class="sign" data-sign="done" aria-hidden="true"></span>
<h1>Everything was deleted</h1>
<p role="status">${
    connectionsRevoked === 0
      ? 'Nothing was left: it had been deleted before.'
      : html`<strong>${counted(conversationsDeleted, 'conversation')}</strong> and <strong>${counted(connectionsRevoked, 'connection')}</strong> were deleted on ${moment(new Date(deletedAt))}.`
  }</p>
<p>You can close this page. To use an assistant with ${appName} again, connect it from there.</p>
${returnLink({ appName, redirectUrl })}
</div></main>`
}

/** Shown while the deletion takes longer than the request waited; the answer's `Refresh` header brings the end. */
export const deletingBody = (): Markup => html`<main class="alone"><div class="panel">
<span class="sign" aria-hidden="true"></span>
<h1>Deleting your data…</h1>
<p role="status">This page shows when it is done. You may close it: the deletion goes on.</p>
</div></main>`

const returnLink = ({ appName, redirectUrl }: { appName: string; redirectUrl: string | undefined }) =>
  redirectUrl !== undefined && html`<p class="return"><a href="${redirectUrl}">Return to ${appName}</a></p>`
