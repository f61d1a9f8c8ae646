import { systemClock } from '../core/clock.ts'
import { createKeyring } from '../core/envelope.ts'
import { type Finding, leftOut } from './doctor/check.ts'
import { checkConfiguration } from './doctor/configuration.ts'
import { checkDatabase } from './doctor/database.ts'
import { checkProviders } from './doctor/providers.ts'
import { checkBrowser, checkMail } from './doctor/surroundings.ts'

/**
 * `npm run doctor`: looks at everything that the service needs, with the variables that its processes get, and says in one line each what
 * is wrong and what to do. Exit status 1 where something is.
 */
async function examine(env: Record<string, string | undefined>): Promise<Finding[]> {
  const { finding, config } = checkConfiguration(env)
  const url = env['MONGODB_URL'] || undefined
  const keyring =
    config && env['MASTER_KEY'] ? createKeyring([config.MASTER_KEY, ...config.OLD_MASTER_KEYS]) : undefined
  const database = url
    ? checkDatabase({ url, clock: systemClock(), keyring })
    : [leftOut('database', 'no MONGODB_URL; npm start brings its own')]
  const given = Boolean(env['PROVIDER_PROFILES'] || env['PROVIDER_SITE'])
  const others = await Promise.all([
    database,
    checkBrowser(env['CHROMIUM_PATH'] || undefined),
    checkMail({ url: env['SMTP_URL'] || undefined, needed: env['SERVICE_ENV'] === 'production' }),
    config ? checkProviders({ config, given }) : leftOut('providers', 'not before the configuration is right'),
  ])
  return [finding, ...others.flat()]
}

/** What servers answer stands in it, and is no command to the terminal. */
const oneLine = ({ state, about, text }: Finding): string =>
  `${state.padEnd(9)}${about}: ${text}`.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�')

const findings = await examine(process.env)
for (const finding of findings) process.stdout.write(`${oneLine(finding)}\n`)
process.exit(findings.some(({ state }) => state === 'wrong') ? 1 : 0)
