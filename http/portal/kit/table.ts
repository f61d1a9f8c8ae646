import { html, type Markup } from '../../pages/kit/html.ts'
import type { Content } from './parts.ts'

/** A column of a table. */
interface Column {
  label: string
  /** Left out on a phone, where the row's own page has it. */
  wide?: boolean
  /** Numbers stand at the right. */
  numeric?: boolean
  /** Short values that are not broken: addresses, ends of keys. */
  unbroken?: boolean
  /** Seen by screen readers only. */
  hideLabel?: boolean
}

/**
 * A table; on a phone the cells of a row stand below each other, with the label of their column, unless it is `narrow`. The roles are said, since a table
 * that is laid out otherwise is none any more for some screen readers.
 */
export const table = ({
  caption,
  columns,
  rows,
  narrow = false,
}: {
  /** Fits a phone as it is. */
  narrow?: boolean
  /** Names the table for screen readers. */
  caption: string
  columns: Column[]
  rows: Content[][]
}): Markup => html`<div class="table" role="region" aria-label="${caption}" tabindex="0"><table role="table"${!narrow && html` class="stacked"`}>
<caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(
  (column) =>
    html`<th role="columnheader" scope="col"${classOf(column)}>${column.hideLabel ? html`<span class="unseen">${column.label}</span>` : column.label}</th>`,
)}</tr></thead>
<tbody role="rowgroup">${rows.map(
  (cells) => html`<tr role="row">${cells.map((cell, index) => tableCell(cell, columns[index]))}</tr>
`,
)}</tbody></table></div>`

const tableCell = (cell: Content, column: Column | undefined): Markup =>
  html`<td role="cell"${classOf(column)}${column && !column.hideLabel && html` data-label="${column.label}"`}>${cell}</td>`

const classOf = (column: Column | undefined): Markup | false => {
  const names = [column?.wide && 'wide', column?.numeric && 'numeric', column?.unbroken && 'unbroken']
    .filter(Boolean)
    .join(' ')
  return names !== '' && html` class="${names}"`
}
