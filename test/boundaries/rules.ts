/**
 * The folders of the house and what each may import besides npm packages and itself (docs/architecture.md, Folders): paths of folders, with
 * everything in them, or of single files. The rule of the innermost folder holds; one within another may import what that one may of the
 * rest of the house, and of the other's own parts only what it names.
 */
export interface Folder {
  mayImport: readonly string[]
  /** The only packages, where not any; Node's own count too. */
  packages?: readonly string[]
}

const SERVICE = ['schemas', 'provider', 'core', 'wire']

/** Folders of which anything may be imported nowhere, and which may import anything. */
export const OUTSIDE = ['test', 'bench']

const ACTORS_BASE = [
  'actors/runtime.ts',
  'actors/supervision.ts',
  'actors/crash.ts',
  'actors/mailbox-claim.ts',
  'actors/take-up.ts',
  'actors/work-limits.ts',
  'actors/work-poller.ts',
]
const SCHEMAS_BASE = [
  'schemas/batched.ts',
  'schemas/claims.ts',
  'schemas/database.ts',
  'schemas/embedded.ts',
  'schemas/flow-ended.ts',
  'schemas/held-claims.ts',
  'schemas/outbox.ts',
  'schemas/principal.ts',
  'schemas/secrets.ts',
  'schemas/wakeups.ts',
  'schemas/wrapped-key.ts',
]

export const FOLDERS: Record<string, Folder> = {
  core: { mayImport: [] },
  wire: { mayImport: [], packages: ['zod'] },

  schemas: { mayImport: ['core', 'wire', 'schemas'] },
  'schemas/app': { mayImport: SCHEMAS_BASE },
  'schemas/user': { mayImport: [...SCHEMAS_BASE, 'schemas/app'] },
  'schemas/command': { mayImport: [...SCHEMAS_BASE, 'schemas/user'] },
  'schemas/archive': { mayImport: [...SCHEMAS_BASE, 'schemas/command'] },
  'schemas/connection': { mayImport: [...SCHEMAS_BASE, 'schemas/user', 'schemas/archive'] },
  'schemas/delivery': { mayImport: SCHEMAS_BASE },
  'schemas/lease': { mayImport: [...SCHEMAS_BASE, 'schemas/command'] },
  'schemas/operations': { mayImport: SCHEMAS_BASE },
  'schemas/mail': { mayImport: SCHEMAS_BASE },
  'schemas/member': { mayImport: SCHEMAS_BASE },

  provider: { mayImport: ['core'] },
  sandbox: { mayImport: ['core', 'provider/profile.ts'] },

  actors: { mayImport: [...SERVICE, 'actors'] },
  'actors/archive': { mayImport: ACTORS_BASE },
  'actors/connection': { mayImport: [...ACTORS_BASE, 'actors/archive'] },
  'actors/sync': { mayImport: [...ACTORS_BASE, 'actors/archive', 'actors/connection'] },
  'actors/commands': { mayImport: [...ACTORS_BASE, 'actors/archive', 'actors/connection'] },
  'actors/delivery': { mayImport: [...ACTORS_BASE, 'actors/outbox-relay.ts', 'actors/share.ts'] },
  'actors/mail': { mayImport: [...ACTORS_BASE, 'actors/delivery/schedule.ts'] },

  'browser-farm': { mayImport: SERVICE },

  http: { mayImport: [...SERVICE, 'http'] },
  'http/kit': { mayImport: [] },
  'http/access': { mayImport: ['http/kit'] },
  'http/actions': { mayImport: ['http/kit', 'http/access'] },
  'http/api': { mayImport: ['http/kit', 'http/access', 'http/actions'] },
  'http/ops': { mayImport: ['http/kit', 'http/access', 'http/actions'] },
  'http/openapi': { mayImport: ['http/kit', 'http/pages/kit'] },
  'http/stream': { mayImport: ['http/kit', 'http/access'] },
  'http/pages': { mayImport: ['http/kit', 'http/access', 'http/actions', 'http/pages'] },
  'http/pages/kit': { mayImport: ['http/kit', 'http/access'] },
  'http/pages/start': { mayImport: ['http/kit', 'http/access', 'http/actions', 'http/pages/kit'] },
  'http/pages/manage': { mayImport: ['http/kit', 'http/access', 'http/actions', 'http/pages/kit'] },
  'http/portal': { mayImport: ['http/kit', 'http/access', 'http/actions', 'http/pages/kit', 'http/portal'] },

  tui: { mayImport: ['wire'] },
  sdk: { mayImport: [] },

  start: { mayImport: ['core', 'schemas', 'provider', 'deploy', 'start'] },
  'start/doctor': { mayImport: ['core', 'schemas', 'provider', 'start/set-up', 'start/settings.ts'] },
  'start/set-up': { mayImport: [] },
  'start/set-up/database': { mayImport: ['start/set-up'] },

  deploy: { mayImport: ['http/pages/kit'] },
}

/** These have timers of their own: a partner's package, another company's site, the parent of the processes, an operator's program. */
const OWN_TIME = ['sdk/', 'tui/', 'sandbox/', 'start/', 'core/clock.ts']

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
    pattern: /\.(?:deleteOne|findOneAndDelete|findByIdAndDelete)\s*[(<]|\bdeleteOne:/,
    message:
      'FerretDB deletes nothing this way where another write changes the document meanwhile: deleteMany, or takeOne',
    appliesTo: onDatabase,
  },
  {
    // A method of that name (a socket's idle limit) is no timer.
    pattern: /\bDate\.now\s*\(|\bnew Date\s*\(\s*\)|(?:\bglobalThis\.|(?<![.\w$]))set(?:Timeout|Interval)\s*\(/,
    message: 'time comes from core/clock',
    appliesTo: onServiceTime,
  },
]
