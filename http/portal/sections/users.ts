import { ServiceError } from '../../../core/errors.ts'
import { isUuid } from '../../../core/ids.ts'
import { type Connection, Connections } from '../../../schemas/connection/connection.ts'
import { connectionProgress, NO_PROGRESS, type Progress } from '../../../schemas/connection/progress.ts'
import { beginningWith, trusted } from '../../../schemas/database.ts'
import { type User, Users } from '../../../schemas/user/user.ts'
import { isStorable, USER_REF_LENGTH } from '../../../wire/text.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { sectionPath, sendAppPage } from '../kit/layout.ts'
import { card, emptyState, field, form, moment, number, pill } from '../kit/parts.ts'
import type { PortalHandlers } from '../kit/portal-router.ts'
import { table } from '../kit/table.ts'
import type { AppExchange } from '../kit/visit.ts'
import { askForDeletion, deleteData, deletionCard } from './user-deletion.ts'

type UserHandlers = Pick<
  PortalHandlers,
  | 'GET /apps/:appId/users'
  | 'GET /apps/:appId/users/:userId'
  | 'GET /apps/:appId/users/:userId/delete'
  | 'POST /apps/:appId/users/:userId/delete'
>

const PAGE = 50
/** Of one user; far above what anybody connects. */
const MOST_CONNECTIONS = 200

const pathOf = ({ app }: AppExchange): string => sectionPath(app._id, 'users')

export const userHandlers: UserHandlers = {
  'GET /apps/:appId/users': showUsers,
  'GET /apps/:appId/users/:userId': async (exchange) => showUser(exchange, await userOf(exchange)),
  'GET /apps/:appId/users/:userId/delete': async (exchange) => askForDeletion(exchange, await userOf(exchange)),
  'POST /apps/:appId/users/:userId/delete': async (exchange) => deleteData(exchange, await userOf(exchange)),
}

async function userOf({ app, request }: AppExchange): Promise<User> {
  const id = String(request.params['userId']).toLowerCase()
  const user = isUuid(id) ? await Users.findOne({ _id: id, appId: app._id }).lean<User>() : null
  if (!user) throw new ServiceError('not_found')
  return user
}

const isReference = (text: unknown): text is string =>
  typeof text === 'string' && text !== '' && text.length <= USER_REF_LENGTH && isStorable(text)

async function showUsers(exchange: AppExchange): Promise<void> {
  const { app, request } = exchange
  const { q, after } = request.query
  const wanted = isReference(q) ? q : ''
  const begins = wanted === '' ? [] : [{ userRef: beginningWith(wanted) }]
  const follows = isReference(after) ? [{ userRef: trusted({ $gt: after }) }] : []
  const conditions = [...begins, ...follows]
  const found = await Users.find({ appId: app._id, ...(conditions.length > 0 && { $and: conditions }) })
    .sort({ userRef: 1 })
    .limit(PAGE + 1)
    .lean<User[]>()
  const shown = found.slice(0, PAGE)
  sendAppPage(exchange, {
    section: 'users',
    title: 'Users',
    lead: 'Whoever opened a connect link of yours, by the reference that you gave them. What they wrote is not shown here.',
    body: [
      card({ title: 'Find a user' }, [
        form(exchange, { action: pathOf(exchange), method: 'get', className: 'row' }, [
          field({
            label: 'User reference',
            name: 'q',
            value: wanted,
            maxLength: USER_REF_LENGTH,
            hint: 'The whole reference, or how it begins.',
          }),
          html`<button class="button primary">Search</button>`,
        ]),
      ]),
      shown.length === 0
        ? card({ title: 'Users' }, noUsers(wanted))
        : card({ title: wanted === '' ? 'Users' : 'Found', text: 'In order of the reference.' }, [
            await userTable(exchange, shown),
            found.length > PAGE && nextLink(exchange, wanted, shown.at(-1)),
          ]),
    ],
  })
}

function nextLink(exchange: AppExchange, wanted: string, last: User | undefined): Markup | false {
  if (!last) return false
  const query = new URLSearchParams({ ...(wanted !== '' && { q: wanted }), after: last.userRef })
  return html`<nav class="pages" aria-label="Pages"><a href="${pathOf(exchange)}?${query.toString()}">Next users</a></nav>`
}

const noUsers = (wanted: string): Markup =>
  wanted === ''
    ? emptyState({
        title: 'No user yet',
        text: 'A user comes into being when they first open a connect link that your backend signed. The documentation shows how to sign one.',
        action: html`<a class="button plain" href="/docs">Read the documentation</a>`,
      })
    : emptyState({
        title: 'Nobody found',
        text: html`No user reference begins with “${wanted}”. Letters in upper and lower case differ.`,
      })

async function userTable(exchange: AppExchange, users: User[]): Promise<Markup> {
  const ids = users.map(({ _id }) => _id)
  const connections = await Connections.find({ appId: exchange.app._id, userId: trusted({ $in: ids }) })
    .select({ userId: 1, status: 1 })
    .limit(PAGE * MOST_CONNECTIONS)
    .lean<Pick<Connection, '_id' | 'userId' | 'status'>[]>()
  return table({
    caption: 'Users',
    columns: [{ label: 'User reference' }, { label: 'Connections' }, { label: 'First seen', wide: true }],
    rows: users.map(({ _id, userRef, createdAt }) => [
      html`<a href="${pathOf(exchange)}/${_id}"><bdi>${userRef}</bdi></a>`,
      statuses(connections.filter(({ userId }) => userId === _id)),
      moment(createdAt),
    ]),
  })
}

const STATUS = {
  active: ['Active', 'good'],
  needs_reauth: ['Sign-in needed', 'warn'],
  revoked: ['Revoked', 'calm'],
} as const

function statusPill(status: Connection['status']): Markup {
  const [word, tone] = STATUS[status]
  return pill(word, tone)
}

function statuses(connections: Pick<Connection, 'status'>[]): Markup {
  if (connections.length === 0) return html`<span class="soft">None</span>`
  const held = connections.filter(({ status }) => status !== 'revoked')
  return html`${(held.length > 0 ? held : connections.slice(0, 1)).map(({ status }) => html`${statusPill(status)} `)}`
}

const connectionsOf = ({ _id, appId }: User): Promise<Connection[]> =>
  Connections.find({ appId, userId: _id }).sort({ capturedAt: -1 }).limit(MOST_CONNECTIONS).lean<Connection[]>()

async function showUser(exchange: AppExchange, user: User): Promise<void> {
  const connections = await connectionsOf(user)
  const progress = await connectionProgress(connections)
  const held = connections.some(({ status }) => status !== 'revoked')
  sendAppPage(exchange, {
    section: 'users',
    title: user.userRef,
    lead: html`<a class="back" href="${pathOf(exchange)}">Back to users</a>`,
    body: [
      card(
        { title: 'User' },
        html`<dl class="facts">
<div><dt>User id</dt><dd class="mono">${user._id}</dd></div>
<div><dt>First seen</dt><dd>${moment(user.createdAt)}</dd></div></dl>`,
      ),
      card(
        { title: 'Connections' },
        connections.length === 0
          ? emptyState({
              title: 'Nothing is connected',
              text: 'The user opened a link and has not finished signing in. Send a new link when they try again.',
            })
          : connectionTable(connections, progress),
      ),
      ...(exchange.role === 'owner' ? [deletionCard(exchange, user, held)] : []),
    ],
  })
}

const connectionTable = (connections: Connection[], progress: Map<string, Progress>): Markup =>
  table({
    caption: 'Connections',
    columns: [
      { label: 'Provider' },
      { label: 'Status' },
      { label: 'Conversations', numeric: true },
      { label: 'Last sync' },
      { label: 'Next sync' },
      { label: 'Connected' },
    ],
    rows: connections.map((each) => [
      each.provider,
      statusPill(each.status),
      number((progress.get(each._id) ?? NO_PROGRESS).stored),
      each.lastSyncAt ? moment(each.lastSyncAt) : html`<span class="soft">Not yet</span>`,
      nextSync(each),
      moment(each.capturedAt),
    ]),
  })

function nextSync({ status, claimedBy, claimableAt }: Connection): Markup | string {
  if (status !== 'active') return '–'
  if (claimedBy !== undefined) return 'Now'
  return claimableAt ? moment(claimableAt) : '–'
}
