/**
 * Where a spreadsheet would begin a formula (OWASP, CSV injection): at the beginning of a cell, and after what some spreadsheets cut cells at, whatever
 * stands in quotes. The wide forms of the signs are taken for the signs in East Asian settings.
 */
const FORMULA = /(^|[,;|\t\r\n])(\s*)(?=[=+\-@\uff0b\uff0d\uff1d\uff20])/g

const cell = (text: string): string =>
  `"${text
    .replace(FORMULA, "$1$2'")
    .replace(/^[\t\r\n]/, "'$&")
    .replaceAll('"', '""')}"`

/** Rows as RFC 4180; an apostrophe stands before what a spreadsheet would take for a formula. */
export const csvOf = (rows: string[][]): string => rows.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('')
