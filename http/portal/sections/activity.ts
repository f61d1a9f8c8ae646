import { trusted } from '../../../schemas/database.ts'
import { AuditEntries, type AuditEntry } from '../../../schemas/operations/audit.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { csvOf } from '../kit/csv.ts'
import { sectionPath, sendAppPage } from '../kit/layout.ts'
import { pageLinks, readMoment, readPage } from '../kit/paging.ts'
import { card, emptyState, form, moment, select } from '../kit/parts.ts'
import type { PortalHandlers } from '../kit/portal-router.ts'
import { table } from '../kit/table.ts'
import type { AppExchange } from '../kit/visit.ts'

type ActivityHandlers = Pick<PortalHandlers, 'GET /apps/:appId/activity' | 'GET /apps/:appId/activity.csv'>

const PAGE = 50
/** Rows of a download: more than anybody reads, few enough for one answer. */
const MOST_ROWS = 10_000

/** What each action is called. */
const WORDS: Record<string, string> = {
  'app.created': 'App created',
  'app.changed': 'Settings changed',
  'key.created': 'API key created',
  'key.revoked': 'API key revoked',
  'secret.rotated': 'Secret rotated',
  'secret.overlap-ended': 'Old secret ended',
  'webhook.tested': 'Test event sent',
  'delivery.retried': 'Delivery replayed',
  'deliveries.retried': 'Failed deliveries replayed',
  'member.signed-in': 'Signed in',
  'member.joined': 'Joined the team',
  'member.invited': 'Invited',
  'member.role-changed': 'Role changed',
  'member.removed': 'Removed from the team',
  'invitation.resent': 'Invitation sent again',
  'invitation.withdrawn': 'Invitation withdrawn',
  'user.deleted': 'User data deleted',
  'connection.deleted': 'Connection deleted',
}

export const activityHandlers: ActivityHandlers = {
  'GET /apps/:appId/activity': showActivity,
  'GET /apps/:appId/activity.csv': async (exchange) => {
    const entries = await entriesOf(exchange, undefined, MOST_ROWS)
    exchange.response
      .set('Content-Disposition', 'attachment; filename="activity.csv"')
      .type('text/csv')
      .send(
        csvOf([
          ['Time', 'Who', 'Action', 'On', 'Details', 'From'],
          ...entries.map((each) => [
            each.at.toISOString(),
            who(each),
            each.action,
            each.target ?? '',
            detailsOf(each),
            each.by.from ?? '',
          ]),
        ]),
      )
  },
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

interface Filter {
  person?: string
  action?: string
}

function readFilter({ request }: AppExchange): Filter {
  const person = textOf(request.query['person'])
  const action = textOf(request.query['action'])
  return { ...(person !== undefined && { person }), ...(action !== undefined && { action }) }
}

/** Entries of the app that the address asks for, newest first. */
function entriesOf(exchange: AppExchange, at: unknown, limit: number): Promise<AuditEntry[]> {
  const { person, action } = readFilter(exchange)
  const filter: Record<string, unknown> = {
    appId: exchange.app._id,
    ...(person !== undefined && (person.includes('@') ? { 'by.id': person } : { 'by.kind': person })),
    ...(action !== undefined && { action }),
    ...(at !== undefined && { at }),
  }
  return AuditEntries.find(filter).sort({ at: -1 }).limit(limit).lean<AuditEntry[]>()
}

const who = ({ by }: AuditEntry): string => (by.kind === 'member' ? by.id : by.kind)

const detailsOf = ({ details }: AuditEntry): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : value}`)
    .join('; ')

async function showActivity(exchange: AppExchange): Promise<void> {
  const { app, request } = exchange
  const appId = app._id
  const before = readMoment(request.query['before'])
  const filter = readFilter(exchange)
  const find = (at: unknown, limit: number) => entriesOf(exchange, at, limit)
  const [page, members, kinds] = await Promise.all([
    readPage({ find, timeOf: ({ at }) => at, length: PAGE }, before),
    AuditEntries.distinct('by.id', { appId, 'by.kind': 'member' }),
    AuditEntries.distinct('by.kind', { appId, 'by.kind': trusted({ $ne: 'member' }) }),
  ])
  const { person, action } = filter
  const query = new URLSearchParams({ ...filter }).toString()
  const path = sectionPath(appId, 'activity')
  sendAppPage(exchange, {
    section: 'activity',
    title: 'Activity',
    lead: 'Who did what in this app, when, and from which network address.',
    actions: html`<a class="button plain" href="${path}.csv${query && `?${query}`}">Download CSV</a>`,
    body: card({ title: 'Actions' }, [
      form(exchange, { action: path, method: 'get', className: 'row' }, [
        select({
          label: 'Person',
          name: 'person',
          value: person,
          options: [
            { value: '', label: 'Everybody' },
            ...[...members.sort(), ...kinds.sort()].map((each) => ({ value: each, label: each })),
          ],
        }),
        select({
          label: 'Action',
          name: 'action',
          value: action,
          options: [
            { value: '', label: 'Everything' },
            ...Object.entries(WORDS).map(([value, label]) => ({ value, label })),
          ],
        }),
        html`<button class="button plain">Filter</button>`,
      ]),
      page.shown.length === 0
        ? emptyState({
            title: 'Nothing here',
            text: 'No action matches. Choose another person or action, or look at everything.',
          })
        : entryTable(page.shown),
      pageLinks({ path, query: { ...filter }, before, next: page.before, what: 'actions' }),
    ]),
  })
}

const entryTable = (entries: AuditEntry[]): Markup =>
  table({
    caption: 'Activity',
    columns: [
      { label: 'Time' },
      { label: 'Who' },
      { label: 'Action' },
      { label: 'On' },
      { label: 'Details' },
      { label: 'From', unbroken: true },
    ],
    rows: entries.map((each) => [
      moment(each.at),
      who(each),
      WORDS[each.action] ?? each.action,
      each.target ?? '',
      detailsOf(each),
      each.by.from ?? html`<span class="soft">–</span>`,
    ]),
  })
