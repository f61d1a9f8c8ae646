import { openConnect } from '/ccs-browser.js'
import { byId, call, confirmed, notify, plural } from './dom.js'
import { connectionCard, conversationItem, conversationView, empty, eventItem } from './views.js'

const userRef = new URLSearchParams(location.search).get('userRef') || 'demo-user'
const state = { connections: [], connectionId: undefined, conversations: [], openId: undefined, next: undefined }

/** Runs what a click or an event asked for; what goes wrong is shown above the page until a refresh succeeds. */
const doing = (action) => async () => {
  try {
    await action()
  } catch (error) {
    notify(error)
  }
}

function showConnections({ connections, connected, needsReauth }) {
  state.connections = connections
  const selected = connections.find(({ id }) => id === state.connectionId)
  const readable = connections.find(({ conversationCount }) => conversationCount > 0)
  state.connectionId = (selected ?? readable ?? connections[0])?.id
  byId('summary').textContent = needsReauth
    ? `${userRef} has to log in again.`
    : `${userRef} is ${connected ? 'connected' : 'not connected'}.`
  const cards = connections.map((connection) =>
    connectionCard(connection, {
      selected: connection.id === state.connectionId,
      onRead: doing(() => read(connection.id)),
      onDisconnect: doing(() => disconnect(connection)),
    }),
  )
  byId('connections').replaceChildren(...(cards.length > 0 ? cards : [empty('No account is connected yet.')]))
  byId('delete-all').hidden = connections.every(({ status }) => status === 'revoked')
}

function showConversations(total) {
  const { conversations, openId, next } = state
  byId('count').textContent = total === undefined ? '' : plural(total, 'conversation')
  const items = conversations.map((conversation) =>
    conversationItem(conversation, { selected: conversation.id === openId, onOpen: () => open(conversation, total) }),
  )
  byId('conversations').replaceChildren(...(items.length > 0 ? items : [empty('Nothing to read here.')]))
  byId('more').hidden = next === undefined
  const opened = conversations.find(({ id }) => id === openId)
  if (!opened) byId('conversation').replaceChildren(...(items.length > 0 ? ['Choose a conversation to read it.'] : []))
}

function open(conversation, total) {
  state.openId = conversation.id
  showConversations(total)
  const article = byId('conversation')
  article.replaceChildren(...conversationView(conversation))
  article.scrollTop = 0
  if (matchMedia('(max-width: 45rem)').matches) article.scrollIntoView()
}

function nextOf({ nextCursor, offset, conversations, total }) {
  if (nextCursor !== undefined) return nextCursor === null ? undefined : { cursor: nextCursor }
  return offset + conversations.length < total ? { offset: offset + conversations.length } : undefined
}

/** Loads the first page of the chosen connection, or with `next` the one after those that are shown. */
async function loadConversations(next) {
  if (state.connectionId === undefined) {
    Object.assign(state, { conversations: [], next: undefined })
    return showConversations()
  }
  const path = `/connections/${encodeURIComponent(state.connectionId)}/conversations?${new URLSearchParams(next)}`
  const page = await call(path)
  state.conversations = next ? [...state.conversations, ...page.conversations] : page.conversations
  state.next = nextOf(page)
  showConversations(page.total)
}

async function refresh() {
  showConnections(await call(`/connections?${new URLSearchParams({ userRef })}`))
  await loadConversations()
  notify()
}

async function read(connectionId) {
  Object.assign(state, { connectionId, openId: undefined })
  await refresh()
}

async function disconnect({ id, provider, conversationCount }) {
  const text = `${plural(conversationCount, 'imported conversation')} will be deleted at once and for good.`
  if (!(await confirmed(`Disconnect ${provider}?`, text))) return
  await call('/purge', { connectionId: id })
  await refresh()
}

async function deleteAll() {
  const text = `All connections and conversations of ${userRef} will be deleted at once and for good.`
  if (!(await confirmed('Delete everything?', text))) return
  await call('/purge', { userRef })
  await refresh()
}

async function loadEvents() {
  const { events } = await call('/events')
  const items = events.slice(0, 200).map(eventItem)
  byId('events').replaceChildren(...(items.length > 0 ? items : [empty('No event came in yet.')]))
}

let pending
/** Events come in bursts and each costs two calls of a limited API, so the page is refreshed once for all of a moment. */
function refreshSoon() {
  clearTimeout(pending)
  pending = setTimeout(doing(refresh), 500)
}

function watchEvents() {
  const source = new EventSource('/events/stream')
  source.addEventListener('open', doing(loadEvents))
  source.addEventListener('message', ({ data }) => {
    const entry = JSON.parse(data)
    const list = byId('events')
    list.querySelector('.empty')?.remove()
    const shown = entry.deliveryId && list.querySelector(`[data-delivery="${CSS.escape(entry.deliveryId)}"]`)
    if (shown) shown.replaceWith(eventItem(entry))
    else list.prepend(eventItem(entry))
    if (entry.userRef === userRef) refreshSoon()
  })
}

byId('user-ref').value = userRef
// Without this script the button sends the form, and the flow has the page to itself.
byId('connect').addEventListener('click', (event) => {
  if (!byId('user').reportValidity()) return
  event.preventDefault()
  const query = new URLSearchParams({ userRef: byId('user-ref').value, window: 'own' })
  byId('connect').disabled = true
  openConnect({
    url: call(`/links?${query}`).then(({ url }) => url),
    onEnd: (outcome) => {
      byId('connect').disabled = false
      byId('summary').dataset.outcome = outcome
      refreshSoon()
    },
  })
})
byId('more').addEventListener(
  'click',
  doing(() => loadConversations(state.next)),
)
byId('delete-all').addEventListener('click', doing(deleteAll))
watchEvents()
await doing(refresh)()
