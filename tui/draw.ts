import type { Dashboard } from './dashboard.ts'
import { openedLines } from './opened.ts'
import type { Listed } from './rows.ts'
import type { Opened, Purge, State } from './state.ts'
import { LEAST } from './store.ts'
import { clean, counted, fit, type Tone, wrap } from './text.ts'
import { type Column, type Context, type Sort, VIEW_NAMES } from './view.ts'
import { VIEWS } from './views/all.ts'

/** One line of the screen. The styles only repeat what the text says. */
export interface Line {
  text: string
  style?: 'selected' | 'strong' | 'alarm' | Tone | undefined
}

const HELP = [
  'Keys',
  '',
  '1 to 6       Overview, Actors, Connections, Browsers, Deliveries, Audit',
  '↑ ↓ j k      one row            PgUp PgDn  one page        g G  first, last',
  'Enter        opens a row, folds a tree',
  'Esc          goes back, or clears the filter',
  '/            filters while typing: Enter keeps the filter, Esc clears it',
  's S          sorts by the next column or direction; turns the direction',
  'space        pauses, and goes on',
  'q Ctrl-C     end',
  '',
  'Connection   y  sync it now     p  purge it     P  purge its whole user',
  'Delivery     r  replay it       R  replay all listed that are not delivered',
  'Lease        x  release its browser',
  '',
  'A purge shows what it will delete and asks for the id (or userRef) to be typed.',
]

/** The whole screen, as many lines as it is high but for the last, which would make a terminal scroll. */
export function draw(dashboard: Dashboard): Line[] {
  const state = dashboard.state()
  const { columns, rows } = state.size
  if (columns < LEAST.columns || rows < LEAST.rows) {
    const notice = `This terminal is ${columns}x${rows}; at least ${LEAST.columns}x${LEAST.rows} is needed.`
    return wrap(notice, Math.max(1, columns))
      .slice(0, Math.max(1, rows - 1))
      .map((text) => ({ text }))
  }
  const height = rows - 1
  const top = [...head(state, dashboard.listed().length), note(state)]
  const room = height - top.length - 1
  const body = (state.dialog ? drawDialog(state) : drawView(dashboard, room)).slice(0, room)
  const fill = Array.from({ length: room - body.length }, (): Line => ({ text: '' }))
  return [...top, ...body, ...fill, foot(state)].map((line) => ({ ...line, text: fit(line.text, columns) }))
}

function head(state: State, count: number): Line[] {
  const { view, now, opened, paused, readOnly, filtering } = state
  const tabs = VIEW_NAMES.map((name, index) =>
    name === view ? `[${index + 1} ${VIEWS[name].title}]` : ` ${index + 1} ${VIEWS[name].title} `,
  )
  const { filter, sort } = state.looks[view]
  const { title, columns } = VIEWS[view]
  const loaded = state.loaded[view]
  const facts = [
    opened ? `${title} › ${opened.row.id.slice(opened.row.id.lastIndexOf('/') + 1)}` : `${title} (${count})`,
    loaded ? `age ${Math.max(0, Math.floor((now - loaded.at) / 1_000))} s` : 'loading',
    ...(paused ? ['paused'] : []),
    ...(readOnly ? ['read-only'] : []),
    ...(opened ? [] : [`${columns[sort.column]?.title ?? ''} ${arrow(sort)}`]),
    ...(filter !== '' || filtering ? [`/${filter}${filtering ? '█' : ''}`] : []),
  ]
  return [{ text: tabs.join(''), style: 'strong' }, { text: ` ${facts.join('  ')}` }]
}

const arrow = ({ down }: Sort): string => (down ? '▼' : '▲')

function note({ trouble, message, now }: State): Line {
  if (trouble) {
    const lasted = Math.floor((now - trouble.since) / 1_000)
    return { text: ` ▲ ${trouble.message}; for ${Math.max(0, lasted)} s, trying again`, style: 'alarm' }
  }
  return { text: message ? ` ${message.text}` : '', style: 'strong' }
}

function foot({ dialog, filtering, opened, view, size }: State): Line {
  const { hints } = VIEWS[view]
  const own = opened ? ['Esc back', '↑↓ scroll', ...hints.opened].join('  ') : hints.list
  const all = opened ? '? help  q end' : '/ filter  s sort  ? help  q end'
  const list = `${own}  ${all}`
  const text = dialog
    ? dialog.kind === 'purge'
      ? 'Enter delete  Esc leave everything as it is'
      : dialog.kind === 'replay-all'
        ? 'Enter replay  any other key leaves them'
        : 'any key goes back'
    : filtering
      ? 'type to filter  Enter keep  Esc clear'
      : list.length + ' space pause'.length + 2 < size.columns
        ? `${own}  space pause  ${all}`
        : list
  return { text: ` ${text}`, style: 'faint' }
}

function drawView(dashboard: Dashboard, room: number): Line[] {
  const state = dashboard.state()
  const { view, opened, size, now, history } = state
  const context: Context = { now, history, width: size.columns }
  const data = state.loaded[view]?.data
  if (data === undefined) return [{ text: '' }, { text: ' Loading' }]
  if (opened) return drawOpened(dashboard, opened, room)
  const summary = VIEWS[view].summary(data, context).map((text): Line => ({ text: ` ${text}` }))
  const widths = columnWidths(VIEWS[view].columns, size.columns - MARGIN)
  const titles: Line = { text: `  ${titleRow(VIEWS[view].columns, widths, state.looks[view].sort)}`, style: 'strong' }
  const listed = dashboard.listed()
  const left = Math.max(1, room - summary.length - 1)
  const position = dashboard.position()
  const first = Math.max(0, Math.min(position - Math.floor(left / 2), listed.length - left))
  const rows = listed
    .slice(first, first + left)
    .map((each, index) => drawRow(each, VIEWS[view].columns, widths, first + index === position))
  return [...summary, titles, ...(rows.length > 0 ? rows : [{ text: '  nothing' }])]
}

/** The mark of the selected row, and a space before the edge. */
const MARGIN = 3
const GAP = 1

/** Zero for those that there is no room for. */
function columnWidths(columns: readonly Column[], width: number): number[] {
  const shown = columns.filter(({ from = 0 }) => width + MARGIN >= from)
  const rest = shown.filter((column) => column.width === 'rest').length
  const fixed = shown.reduce((sum, column) => sum + (column.width === 'rest' ? 0 : column.width), 0)
  const share = rest === 0 ? 0 : Math.floor((width - fixed - GAP * (shown.length - 1)) / rest)
  return columns.map((column) => {
    if (!shown.includes(column)) return 0
    return column.width === 'rest' ? Math.max(0, share) : column.width
  })
}

const cells = (texts: string[], columns: readonly Column[], widths: number[]): string =>
  texts
    .flatMap((text, index) => ((widths[index] ?? 0) > 0 ? fit(text, widths[index] ?? 0, columns[index]?.align) : []))
    .join(' '.repeat(GAP))

const titleRow = (columns: readonly Column[], widths: number[], sort: Sort): string =>
  cells(
    columns.map(({ title }, index) => (index === sort.column ? `${title}${arrow(sort)}` : title)),
    columns,
    widths,
  )

function drawRow(
  { row, depth, folded }: Listed,
  columns: readonly Column[],
  widths: number[],
  selected: boolean,
): Line {
  const [first = '', ...others] = row.cells
  const branch = folded === undefined ? '' : folded ? '▸ ' : '▾ '
  const text = cells([`${'  '.repeat(depth)}${branch}${first}`, ...others], columns, widths)
  return { text: `${selected ? '>' : ' '} ${text}`, style: selected ? 'selected' : row.tone }
}

function drawOpened(dashboard: Dashboard, { scroll }: Opened, room: number): Line[] {
  const lines = openedLines(dashboard)
  const first = Math.max(0, Math.min(scroll, lines.length - room))
  return lines.slice(first, first + room).map((text) => ({ text: ` ${text}` }))
}

function drawDialog({ dialog, size }: State): Line[] {
  if (dialog?.kind === 'purge') return drawPurge(dialog, size.columns - 2)
  if (dialog?.kind === 'replay-all') {
    return [
      { text: '' },
      {
        text: ` Replay ${dialog.ids.length === 1 ? '1 delivery' : `${dialog.ids.length} deliveries`}? Enter replays them, any other key leaves them.`,
      },
    ]
  }
  return HELP.map((text) => ({ text: ` ${text}` }))
}

function drawPurge({ whole, target, expected, typed, preview, problem, running }: Purge, width: number): Line[] {
  const told = problem
    ? [`✖ ${problem}`]
    : preview
      ? [
          `It deletes for good: ${counted(preview.connectionsRevoked, 'connection')} revoked, ${counted(preview.conversationsDeleted, 'conversation')} deleted, with their files and the stored sign-in.`,
        ]
      : ['What will be deleted is being looked up.']
  const lines = [
    '',
    whole === 'connection' ? 'PURGE this connection' : 'PURGE everything of this user',
    '',
    `connection  ${target.id}`,
    ...wrap(`user        ${clean(target.userRef)}`, width),
    `app         ${clean(target.appId)}`,
    '',
    ...told.flatMap((line) => wrap(line, width)),
    '',
    ...(problem
      ? []
      : [
          `Type the ${whole === 'connection' ? 'connection id' : 'user reference'} to confirm, then Enter:`,
          ...wrap(expected, width),
          '',
        ]),
    ...(running ? ['It is being deleted.'] : problem ? [] : wrap(`> ${typed}█`, width)),
  ]
  return lines.map((text, index) => ({ text: ` ${text}`, ...(index === 1 && { style: 'alarm' as const }) }))
}
