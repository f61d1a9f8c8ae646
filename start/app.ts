import { parseArgs } from 'node:util'
import { newAppBody } from '../schemas/wire/ops-apps.ts'
import { keepSecrets } from './secrets.ts'

const USAGE = `npm run app -- create --app-id ID --name NAME --contact-email E-MAIL --owner-email E-MAIL
                      [--logo-url URL] [--primary-color #3355ff] [--webhook-url URL] [--requests-per-minute 60]

Takes a partner on, at the running service: prints its app secret, API key and webhook secret, which are shown this once.
The service is the one at BASE_URL (default http://127.0.0.1:4000), the operator's key OPERATOR_KEY or the one kept in DATA_DIR.
`

const options = {
  'app-id': { type: 'string' },
  name: { type: 'string' },
  'contact-email': { type: 'string' },
  'owner-email': { type: 'string' },
  'logo-url': { type: 'string' },
  'primary-color': { type: 'string' },
  'webhook-url': { type: 'string' },
  'requests-per-minute': { type: 'string' },
  help: { type: 'boolean' },
} as const

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

function read() {
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    fail(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

const { values, positionals } = read()
if (values.help) {
  process.stdout.write(USAGE)
  process.exit(0)
}
if (positionals.length !== 1 || positionals[0] !== 'create') fail(USAGE)

const given = {
  appId: values['app-id'],
  appName: values.name,
  contactEmail: values['contact-email'],
  ownerEmail: values['owner-email'],
  logoUrl: values['logo-url'],
  primaryColor: values['primary-color'],
  webhookUrl: values['webhook-url'],
  requestsPerMinute: values['requests-per-minute'] === undefined ? undefined : Number(values['requests-per-minute']),
}
const body = newAppBody.safeParse(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
if (!body.success) {
  const issue = body.error.issues[0]
  fail(`${issue?.path.join('.')}: ${issue?.message}\n\n${USAGE}`)
}

const baseUrl = process.env['BASE_URL'] || 'http://127.0.0.1:4000'
const operatorKey =
  process.env['OPERATOR_KEY'] || (await keepSecrets({ dataDir: process.env['DATA_DIR'] || '.data' })).operatorKey
const answer = await fetch(`${baseUrl}/ops/apps`, {
  method: 'POST',
  headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
  body: JSON.stringify(body.data),
}).catch(() => fail(`No service answers at ${baseUrl}; start it first, or set BASE_URL`))
const result = (await answer.json()) as { error?: string }
if (!answer.ok) fail(`${result.error ?? `the service answers ${answer.status}`}`)
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
