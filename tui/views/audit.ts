import type { OpsAudit } from '../../wire/ops.ts'
import { clean, since } from '../text.ts'
import { type Context, defineView, type Row } from '../view.ts'

type Entry = OpsAudit['entries'][number]

const NEWEST = 200

export const audit = defineView<OpsAudit>({
  title: 'Audit',
  columns: [
    { title: 'ago', width: 8, align: 'right' },
    { title: 'action', width: 20 },
    { title: 'by', width: 'rest' },
    { title: 'app', width: 14 },
    { title: 'target', width: 'rest' },
    { title: 'at', width: 25, from: 140 },
  ],
  sort: { column: 0, down: false },
  hints: { list: 'Enter detail', opened: [] },
  load: (client, { signal }) => client('listAudit', { query: { limit: NEWEST }, ...(signal && { signal }) }),
  summary: ({ entries }) => [`the newest ${entries.length} actions`],
  rows: ({ entries }, context) => entries.map((entry) => row(entry, context)),
})

function row({ id, at, by, action, appId, target, details }: Entry, { now }: Context): Row {
  const who = clean(`${by.kind} ${by.id}`)
  return {
    id,
    cells: [since(at, now), clean(action), who, clean(appId ?? '-'), clean(target ?? '-'), at],
    sort: [now - Date.parse(at), action, who, appId ?? '', target ?? '', at],
    search: `${action} ${who} ${appId ?? ''} ${target ?? ''} ${id}`,
    detail: [
      ['id', id],
      ['at', `${at} (${since(at, now)} ago)`],
      ['by', who],
      ['action', clean(action)],
      ['app', clean(appId ?? '-')],
      ['target', clean(target ?? '-')],
      '',
      ...Object.entries(details).map(([name, value]): [string, string] => [clean(name), clean(JSON.stringify(value))]),
    ],
  }
}
