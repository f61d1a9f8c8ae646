import { html, type Markup } from '../../pages/kit/html.ts'
import { number } from './parts.ts'
import { table } from './table.ts'

/** One number a day, as bars; the same numbers stand in a table behind it. */
interface Series {
  label: string
  values: number[]
  tone?: 'good' | 'bad'
}

const HEIGHT = 100
const BAR = 8
const GAP = 2

/**
 * A chart of some days: the first series is drawn, all of them stand in the table, which is what screen readers get. `limit` is drawn as a line where
 * the bars come near it.
 */
export function chart({ days, series, limit }: { days: string[]; series: Series[]; limit?: number }): Markup {
  const [drawn] = series
  if (!drawn) return html``
  const most = Math.max(1, ...drawn.values)
  const showsLimit = limit !== undefined && most >= limit / 2
  const top = showsLimit ? Math.max(most, limit) : most
  const width = days.length * (BAR + GAP) - GAP
  const heightOf = (value: number): number => (value === 0 ? 0 : Math.max(2, Math.round((value / top) * HEIGHT)))
  const lineAt = showsLimit ? HEIGHT - Math.round((limit / top) * HEIGHT) : 0
  return html`<svg class="chart" viewBox="0 0 ${width} ${HEIGHT + 1}" preserveAspectRatio="none" aria-hidden="true" focusable="false">
${drawn.values.map(
  (value, index) =>
    value > 0 &&
    html`<rect class="bar ${drawn.tone}" x="${index * (BAR + GAP)}" y="${HEIGHT - heightOf(value)}" width="${BAR}" height="${heightOf(value)}"></rect>`,
)}
<line class="base" x1="0" y1="${HEIGHT}.5" x2="${width}" y2="${HEIGHT}.5"></line>
${showsLimit && html`<line class="limit" x1="0" y1="${lineAt}" x2="${width}" y2="${lineAt}"></line>`}
</svg>
<p class="chart-ends"><span>${days[0]}</span><span>Highest: ${number(Math.max(...drawn.values))}</span><span>${days.at(-1)}</span></p>
<details><summary>Numbers by day</summary>${table({
    caption: `${drawn.label} by day`,
    narrow: true,
    columns: [{ label: 'Day' }, ...series.map(({ label }) => ({ label, numeric: true }))],
    rows: days.map((day, index) => [day, ...series.map(({ values }) => number(values[index] ?? 0))]).toReversed(),
  })}</details>`
}
