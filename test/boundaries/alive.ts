/** Files that something else than an import begins with: a process, a script of package.json, a bundler, a fork; all that they export counts as used. */
const ENTRIES = [
  /(?:^|\/)main\.ts$/,
  /\.test\.ts$/,
  /^(?:start\/bootstrap\.js|start\/(?:app|build|doctor|prepare-data)\.ts|deploy\/build\.ts)$/,
  // What the pages' bundles begin with.
  /^http\/pages\/(\w+)\/assets\/\1\.ts$/,
  /^http\/portal\/assets\/portal\.ts$/,
  // The package's own entry, and its example as partners read it.
  /^sdk\/(?:src\/(?:index|browser)\.ts$|example\/)/,
  /^bench\/[\w-]+\.ts$/,
  /^test\/soak\//,
  // Forked by suites and benches.
  /^bench\/(?:(?:api|events)\/floor|deliveries\/receiver|sync\/provider)\.ts$/,
  /^test\/.+(?:-fixture|\/child)\.ts$/,
]

export const isEntry = (path: string): boolean => ENTRIES.some((pattern) => pattern.test(path))

/** Tests and benches use the product without being part of it. */
export const isAside = (path: string): boolean => /^(?:test|bench)\//.test(path)

const LIMIT = 'the test goes up to the limit and beyond it'
const CASES = 'a rule of many cases, each tried by itself'
const WITHOUT_LIFE = 'suites run the work of a process in their own'
const AS_STORED = 'the test looks at, or writes, what is stored as the service does'

/** Exports that tests and benches alone import, each with the reason. */
export const TESTED_ALONE: Record<string, string> = {
  'actors/archive/attachments.ts#ATTACHMENT_BYTES': LIMIT,
  'actors/delivery/answer.ts#KEPT_LIMIT': LIMIT,
  'schemas/archive/conversation-part.ts#PART_BYTES': LIMIT,
  'schemas/archive/external-id.ts#LONGEST_EXTERNAL_ID': LIMIT,
  'actors/delivery/answer.ts#keptText': CASES,
  'actors/sync/pace.ts#paceOf': CASES,
  'browser-farm/input.ts#inputCalls': CASES,
  'provider/caller.ts#parseRetryAfter': CASES,
  'provider/cookie.ts#splitCookie': CASES,
  'provider/profile.ts#providerProfile': CASES,
  'sdk/src/each-conversation.ts#spread': CASES,
  'sdk/src/retry.ts#backOff': CASES,
  'sdk/src/retry.ts#retryDelay': CASES,
  'core/process.ts#createRuntime': WITHOUT_LIFE,
  'schemas/service-process.ts#startWork': WITHOUT_LIFE,
  'schemas/secrets.ts#CREDENTIAL_PURPOSE': AS_STORED,
}
