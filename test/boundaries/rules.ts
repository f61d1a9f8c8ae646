/** The folders of the house and what each may import besides npm packages and itself (docs/architecture.md, Folders). */
export const MAY_IMPORT: Record<string, readonly string[] | 'anything'> = {
  core: [],
  wire: [],
  schemas: ['core', 'wire'],
  provider: ['core'],
  sandbox: ['core', 'provider'],
  actors: ['schemas', 'provider', 'core', 'wire'],
  'browser-farm': ['schemas', 'provider', 'core', 'wire'],
  http: ['schemas', 'provider', 'core', 'wire'],
  tui: ['wire'],
  sdk: [],
  start: ['core', 'schemas', 'provider'],
  test: 'anything',
  bench: 'anything',
}

/** Folders whose code runs beside the service, not in it. */
const OUTSIDE = ['test', 'bench']
/** These have timers of their own: a partner's package, another company's site, the parent of the processes. */
const OWN_TIME = ['sdk/', 'sandbox/', 'start/', 'core/clock.ts']

interface Ban {
  pattern: RegExp
  message: string
  appliesTo(path: string): boolean
}

const inService = (path: string): boolean => !OUTSIDE.some((folder) => path.startsWith(`${folder}/`))
/** The SDK never meets the database. */
const onDatabase = (path: string): boolean => inService(path) && !path.startsWith('sdk/')
const onServiceTime = (path: string): boolean => inService(path) && !OWN_TIME.some((place) => path.startsWith(place))

export const BANS: readonly Ban[] = [
  {
    pattern: /\b(?:withTransaction|startSession)\b/,
    message: 'multi-document transactions do not work on every supported database',
    appliesTo: onDatabase,
  },
  {
    pattern: /\.watch\(/,
    message: 'change streams do not work on every supported database',
    appliesTo: onDatabase,
  },
  {
    // A method of that name (a socket's idle limit) is no timer.
    pattern: /\bDate\.now\s*\(|\bnew Date\s*\(\s*\)|(?:\bglobalThis\.|(?<![.\w$]))set(?:Timeout|Interval)\s*\(/,
    message: 'time comes from core/clock',
    appliesTo: onServiceTime,
  },
]
