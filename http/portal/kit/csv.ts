/** What a spreadsheet takes for the beginning of a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/

const cell = (text: string): string => `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`

/** Rows as RFC 4180; what a spreadsheet would take for a formula begins with an apostrophe. */
export const csvOf = (rows: string[][]): string => rows.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('')
