import { parseArgs } from 'node:util'
import { systemClock } from '../core/clock.ts'
import { ConfigError } from '../core/config.ts'
import { keepSecrets } from './secrets.ts'

/**
 * `npm run app -- create …`: takes a partner on and invites the first owner, as `POST /ops/apps` of a service that runs; `announce …`
 * mails a deprecation, as `POST /ops/deprecations`. The answer, with the secrets that are shown this once, is one JSON line on stdout;
 * whatever goes wrong is one line on stderr and exit status 1.
 */
const USAGE = `Usage: npm run app -- create --app-id ID --name NAME --contact-email EMAIL [--owner-email EMAIL]
       [--logo-url URL] [--primary-color #RRGGBB] [--webhook-url URL] [--requests-per-minute N]
       [--base-url URL]
       npm run app -- announce --subject TEXT --message TEXT --removed-at TIME [--app-id ID] [--base-url URL]

The service is reached at --base-url, BASE_URL or http://127.0.0.1:4000, with OPERATOR_KEY or the key that lies in DATA_DIR.`

const DEFAULT_BASE_URL = 'http://127.0.0.1:4000'
const ANSWER_MS = 30_000

const text = { type: 'string' } as const
const OPTIONS = {
  'app-id': text,
  name: text,
  'contact-email': text,
  'owner-email': text,
  'logo-url': text,
  'primary-color': text,
  'webhook-url': text,
  'requests-per-minute': text,
  subject: text,
  message: text,
  'removed-at': text,
  'base-url': text,
}

type Given = Partial<Record<keyof typeof OPTIONS, string>>

const COMMANDS = {
  create: { path: '/ops/apps', bodyOf: newApp },
  announce: { path: '/ops/deprecations', bodyOf: deprecation },
}

function newApp(given: Given) {
  const perMinute = given['requests-per-minute']
  return {
    appId: given['app-id'],
    appName: given.name,
    contactEmail: given['contact-email'],
    ownerEmail: given['owner-email'] ?? given['contact-email'],
    logoUrl: given['logo-url'],
    primaryColor: given['primary-color'],
    webhookUrl: given['webhook-url'],
    ...(perMinute === undefined ? {} : { requestsPerMinute: Number(perMinute) }),
  }
}

function deprecation(given: Given) {
  return {
    subject: given.subject,
    message: given.message,
    removedAt: given['removed-at'],
    appId: given['app-id'],
  }
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
    const [command = ''] = positionals
    if (positionals.length !== 1 || !(command in COMMANDS)) throw new ConfigError(USAGE)
    return { given: values, command: COMMANDS[command as keyof typeof COMMANDS] }
  } catch (error) {
    throw error instanceof ConfigError ? error : new ConfigError(`${(error as Error).message}\n${USAGE}`)
  }
}

async function operatorKey(): Promise<string> {
  const given = process.env['OPERATOR_KEY']
  if (given) return given
  return (await keepSecrets({ dataDir: process.env['DATA_DIR'] || '.data' })).operatorKey
}

async function run(): Promise<unknown> {
  const { given, command } = readArguments()
  const baseUrl = given['base-url'] ?? process.env['BASE_URL'] ?? DEFAULT_BASE_URL
  const late = new AbortController()
  systemClock().timer(ANSWER_MS, () => late.abort(new Error('it did not answer')))
  const response = await fetch(`${baseUrl.replace(/\/+$/, '')}${command.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await operatorKey()}`, 'content-type': 'application/json' },
    body: JSON.stringify(command.bodyOf(given)),
    signal: late.signal,
  }).catch((error: unknown) => {
    const { cause } = error as { cause?: { code?: string } }
    throw new ConfigError(`${baseUrl} cannot be reached (${cause?.code ?? String(error)}); is the service running?`)
  })
  const answer = (await response.json()) as { error?: string }
  if (!response.ok) throw new ConfigError(answer.error ?? `the service answered ${response.status}`)
  return answer
}

try {
  process.stdout.write(`${JSON.stringify(await run())}\n`)
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
