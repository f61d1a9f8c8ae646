import { parseArgs } from 'node:util'
import { systemClock } from '../core/clock.ts'
import { ConfigError } from '../core/config.ts'
import { keepSecrets } from './secrets.ts'

/**
 * `npm run app -- create …`: takes a partner on, as `POST /ops/apps` of a service that runs. Its answer, with the secrets that are
 * shown this once, is one JSON line on stdout; whatever goes wrong is one line on stderr and exit status 1.
 */
const USAGE = `Usage: npm run app -- create --app-id ID --name NAME --contact-email EMAIL [--owner-email EMAIL]
       [--logo-url URL] [--primary-color #RRGGBB] [--webhook-url URL] [--requests-per-minute N]
       [--base-url URL]

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
  'base-url': text,
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
    if (positionals.length !== 1 || positionals[0] !== 'create') throw new ConfigError(USAGE)
    return values
  } catch (error) {
    throw error instanceof ConfigError ? error : new ConfigError(`${(error as Error).message}\n${USAGE}`)
  }
}

async function operatorKey(): Promise<string> {
  const given = process.env['OPERATOR_KEY']
  if (given) return given
  return (await keepSecrets({ dataDir: process.env['DATA_DIR'] || '.data' })).operatorKey
}

async function create(): Promise<unknown> {
  const given = readArguments()
  const perMinute = given['requests-per-minute']
  const body = {
    appId: given['app-id'],
    appName: given.name,
    contactEmail: given['contact-email'],
    ownerEmail: given['owner-email'] ?? given['contact-email'],
    logoUrl: given['logo-url'],
    primaryColor: given['primary-color'],
    webhookUrl: given['webhook-url'],
    ...(perMinute === undefined ? {} : { requestsPerMinute: Number(perMinute) }),
  }
  const baseUrl = given['base-url'] ?? process.env['BASE_URL'] ?? DEFAULT_BASE_URL
  const late = new AbortController()
  systemClock().timer(ANSWER_MS, () => late.abort(new Error('it did not answer')))
  const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/ops/apps`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await operatorKey()}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: late.signal,
  }).catch((error: unknown) => {
    const { cause } = error as { cause?: { code?: string } }
    throw new ConfigError(`${baseUrl} cannot be reached (${cause?.code ?? String(error)}); is the service running?`)
  })
  const answer = (await response.json()) as { error?: string }
  if (response.status !== 201) throw new ConfigError(answer.error ?? `the service answered ${response.status}`)
  return answer
}

try {
  process.stdout.write(`${JSON.stringify(await create())}\n`)
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
