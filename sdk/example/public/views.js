import { element, plural, time } from './dom.js'

const statusText = { active: 'Active', needs_reauth: 'Login needed', revoked: 'Disconnected' }

export function connectionCard(connection, { selected, onRead, onDisconnect }) {
  const { id, provider, status, conversationCount, recentConversationCount, capturedAt, lastSyncAt } = connection
  const badge = element('span', { class: `badge ${status}` }, statusText[status] ?? status)
  const counts = `${plural(conversationCount, 'conversation')}, ${recentConversationCount} in the last 30 days`
  const synced = lastSyncAt ? ['Last sync ', time(lastSyncAt)] : ['Not synced yet']
  const actions = element(
    'div',
    { class: 'actions' },
    element('button', { class: 'quiet', onclick: onRead, 'aria-pressed': String(selected) }, 'Read'),
    status === 'needs_reauth' && element('button', { form: 'user', formaction: '/connect' }, 'Log in again'),
    element('button', { class: 'danger quiet', onclick: onDisconnect }, 'Disconnect'),
  )
  return element(
    'li',
    { class: 'card', 'data-connection': id, 'data-status': status, 'data-selected': selected },
    element('div', { class: 'row' }, element('strong', {}, provider), badge),
    element('p', {}, counts),
    element('p', { class: 'muted' }, 'Connected ', time(capturedAt), ' · ', ...synced),
    status === 'revoked' ? undefined : actions,
  )
}

export function conversationItem(conversation, { selected, onOpen }) {
  const title = conversation.title || 'Untitled'
  const open = element(
    'button',
    { onclick: onOpen, 'aria-current': selected ? 'true' : undefined },
    element('span', { class: 'name' }, title),
    element('span', { class: 'muted' }, time(conversation.update_time)),
  )
  return element('li', { 'data-conversation': conversation.id }, open)
}

function attachmentLine({ name, type, width, height }) {
  const size = width && height ? ` (${width} × ${height})` : ''
  return element('li', {}, `${name ?? type ?? 'Attachment'}${size}`)
}

function messageBubble({ role, content, timestamp, model, contentType, attachments = [] }) {
  const text = contentType === 'code' ? element('pre', {}, content) : element('p', {}, content)
  const files = element('ul', { class: 'attachments' }, ...attachments.map(attachmentLine))
  return element(
    'div',
    { class: `message ${role}` },
    element(
      'div',
      { class: 'muted' },
      [role, model].filter(Boolean).join(' · '),
      timestamp ? ' · ' : '',
      time(timestamp),
    ),
    content ? text : undefined,
    attachments.length > 0 ? files : undefined,
  )
}

export function conversationView({ title, payload }) {
  const messages = payload?.messages ?? []
  const back = element('a', { href: '#conversations-title', class: 'back' }, 'Back to the list')
  return [back, element('h3', {}, title || 'Untitled'), ...messages.map(messageBubble)]
}

export function eventItem({ event, deliveryId, verification, receivedAt, repeats, userRef, payload }) {
  const valid = verification === 'valid'
  const mark = element('span', { class: `badge ${valid ? 'active' : 'refused'}` }, valid ? 'valid' : verification)
  const again = repeats > 0 ? ` · came ${repeats + 1} times` : ''
  const details = element(
    'details',
    {},
    element('summary', {}, 'Payload'),
    element('pre', {}, JSON.stringify(payload, null, 2)),
  )
  return element(
    'li',
    { 'data-delivery': deliveryId ?? undefined, 'data-event': event ?? undefined },
    element('div', { class: 'row' }, element('strong', {}, event ?? 'Refused webhook'), mark),
    element('p', { class: 'muted' }, time(receivedAt), userRef === null ? '' : ` · ${userRef}`, again),
    deliveryId === null ? undefined : element('p', { class: 'muted' }, element('code', {}, deliveryId)),
    payload === null ? undefined : details,
  )
}

export const empty = (text) => element('li', { class: 'empty' }, text)
