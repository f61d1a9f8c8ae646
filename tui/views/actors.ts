import type { OpsActors } from '../../wire/ops.ts'
import { clean, since, status, toneOf } from '../text.ts'
import { type Context, defineView, type Row } from '../view.ts'

type Process = OpsActors['processes'][number]
type Actor = Process['actors'][number]

export const actors = defineView<OpsActors>({
  title: 'Actors',
  columns: [
    { title: 'actor', width: 'rest' },
    { title: 'state', width: 13 },
    { title: 'mailbox', width: 7, align: 'right' },
    { title: 'age', width: 7, align: 'right' },
    { title: 'doing', width: 13 },
    { title: 'crashes', width: 7, align: 'right' },
  ],
  sort: { column: 3, down: true },
  hints: { list: 'Enter open or fold  ←→ fold', opened: [] },
  load: (client, { signal }) => client('getActors', signal ? { signal } : {}),
  summary: ({ processes, quarantined }) => {
    const total = processes.reduce((sum, process) => sum + process.total, 0)
    const shown = processes.reduce((sum, process) => sum + process.actors.length, 0)
    const left = total > shown ? `, the oldest ${shown} shown` : ''
    return [`${total} live actors${left}, ${quarantined.length} quarantined`]
  },
  rows: ({ processes, quarantined }, context) => [
    ...processes.filter(({ kind, total }) => kind === 'actors' || total > 0).map((process) => tree(process, context)),
    ...(quarantined.length > 0 ? [aside(quarantined, context)] : []),
  ],
})

function tree(process: Process, context: Context): Row {
  const { id, kind, state, host, pid, total, startedAt } = process
  const bySupervisor = new Map<string, Actor[]>()
  for (const actor of process.actors) {
    const list = bySupervisor.get(supervisorOf(actor))
    if (list) list.push(actor)
    else bySupervisor.set(supervisorOf(actor), [actor])
  }
  return {
    id,
    cells: [`${kind} ${pid} on ${clean(host)}`, status(state), String(total), since(startedAt, context.now), '', ''],
    sort: ['', state, total, context.now - Date.parse(startedAt), '', 0],
    tone: toneOf(state),
    search: `${kind} ${pid} ${host}`,
    detail: [],
    children: [...bySupervisor].map(([name, list]) => ({
      id: `${id}${name}`,
      cells: [clean(name), '', String(list.length), '', '', ''],
      sort: [name, '', list.length, 0, '', 0],
      search: name,
      detail: [],
      children: list.map((actor) => leaf(`${id}${actor.path}`, actor, context)),
    })),
  }
}

const supervisorOf = ({ path }: Actor): string => path.slice(0, path.indexOf('/', 1))

function leaf(id: string, actor: Actor, { now }: Context): Row {
  const { path, kind, state, mailbox, doing, crashes } = actor
  const of = path.slice(path.lastIndexOf('/') + 1)
  return {
    id,
    cells: [clean(of), status(state), String(mailbox), since(actor.since, now), clean(doing ?? '-'), String(crashes)],
    sort: [of, state, mailbox, now - Date.parse(actor.since), doing ?? '', crashes],
    search: `${path} ${state} ${doing ?? ''} ${kind}`,
    detail: [
      ['path', clean(path)],
      ['kind', kind],
      ['state', status(state)],
      ['mailbox', `${mailbox} messages wait`],
      ['since', `${actor.since} (${since(actor.since, now)} ago)`],
      ['doing', clean(doing ?? 'nothing yet')],
      ['crashes', `${crashes} in a row`],
    ],
  }
}

const aside = (quarantined: OpsActors['quarantined'], { now }: Context): Row => ({
  id: 'quarantined',
  cells: ['quarantined', '', String(quarantined.length), '', '', ''],
  sort: ['~', '', quarantined.length, -1, '', 0],
  search: 'quarantined',
  detail: [],
  children: quarantined.map(({ id, appId, crashes, quarantinedAt, outcome }) => ({
    id: `quarantined/${id}`,
    cells: [id, status('quarantined'), '-', since(quarantinedAt, now), clean(appId), String(crashes)],
    sort: [id, 'quarantined', 0, now - Date.parse(quarantinedAt), appId, crashes],
    tone: toneOf('quarantined'),
    search: `${id} ${appId} quarantined`,
    detail: [
      ['connection', id],
      ['app', clean(appId)],
      ['state', status('quarantined')],
      ['since', `${quarantinedAt} (${since(quarantinedAt, now)} ago)`],
      ['crashes', `${crashes} in a row`],
      ['last outcome', clean(outcome ?? '-')],
      '',
      'Look for it in Connections (3), then sync it now (y) once the cause is mended.',
    ],
  })),
})
