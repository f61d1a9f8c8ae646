import { z } from 'zod'
import { parseUrl } from './parse-url.ts'

/** One wrong value stops the start with one clear line that names it. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

const MASTER_KEY_BYTES = 32
/** docs/behaviour.md, TIME_SCALE. */
const TIME_SCALE_LIMIT = 2400

const masterKey = z
  .string()
  .transform((value) => Buffer.from(value, 'base64'))
  .refine((key) => key.length === MASTER_KEY_BYTES, 'must be base64 of 32 bytes')

const flag = z.enum(['true', 'false']).transform((value) => value === 'true')
/** Of an address that it cannot read, Node writes a warning, with the password that stands in it. */
const isAddress = (value: string): boolean => parseUrl(value) !== null
const count = (most: number) => z.coerce.number().int().min(0).max(most)
const address = z.url({ protocol: /^https?$/ }).transform((value) => value.replace(/\/+$/, ''))

/** Secrets that one kind of process alone needs (docs/security.md, Between visitors, between secrets): no other asks for them. */
const NEEDED_BY: Readonly<Record<string, string>> = { OPERATOR_KEY: 'http', SMTP_URL: 'actors' }

/** Whether a kind of process has any need of a variable. */
export const isFor = (kind: string, variable: string): boolean => (NEEDED_BY[variable] ?? kind) === kind

/** The environment of every process. `npm start` fills in what a person left out; a production process gets it all from outside. */
const environment = z.object({
  SERVICE_ENV: z.enum(['sandbox', 'production']).default('sandbox'),
  MONGODB_URL: z.string().regex(/^mongodb(\+srv)?:\/\/.+/, 'must begin with mongodb:// or mongodb+srv://'),
  MASTER_KEY: masterKey,
  /** Earlier master keys, comma separated: they open what they wrapped, and wrap nothing new. */
  OLD_MASTER_KEYS: z
    .string()
    .default('')
    .transform((value) => value.split(',').filter(Boolean))
    .pipe(z.array(masterKey)),
  HOST: z.string().default('127.0.0.1'),
  PORT: count(65_535).default(4000),
  /** `/healthz`, `/readyz` and `/metrics` of this process; 0 picks a free port. */
  HEALTH_PORT: count(65_535).default(0),
  BASE_URL: address,
  OPERATOR_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
  TIME_SCALE: z.coerce.number().min(1).max(TIME_SCALE_LIMIT).default(1),
  /** Path of a JSON array of provider profiles (docs/provider.md, Profile). */
  PROVIDER_PROFILES: z.string().optional(),
  /** Address of the sandbox provider site, where no profiles are given. */
  PROVIDER_SITE: address.optional(),
  /** Sandbox only: webhooks may go to plain http and private addresses, as a developer's own machine needs. */
  WEBHOOK_PRIVATE_ADDRESSES: flag.default(false),
  CHROMIUM_PATH: z.string().optional(),
  /** Address under which http processes reach this farm node; its port is free to choose by default. */
  FARM_HOST: z.string().default('127.0.0.1'),
  FARM_PORT: count(65_535).default(0),
  /** Browser leases that one farm node holds at once: each has a browser process of its own, about 140 MB. */
  FARM_CAPACITY: count(1_000).default(10),
  /** Trusted proxies in front of http (hops), for the visitor's address and protocol. */
  TRUST_PROXY: count(10).default(0),
  /** Where mail goes; without it the sandbox writes each mail as a file in `DATA_DIR/mails`. */
  SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\/.+/, 'must begin with smtp:// or smtps://')
    .refine(isAddress, 'must be an address, its user and password percent-encoded')
    .optional(),
  MAIL_FROM: z.string().default('CCS <no-reply@ccs.invalid>'),
  DATA_DIR: z.string().default('.data'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
})

/** Of one kind of process, or of all of them. */
const environmentOf = (kind: string | undefined) =>
  environment.superRefine((value, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    const needs = (name: string) => kind === undefined || NEEDED_BY[name] === kind
    if (!value.OPERATOR_KEY && needs('OPERATOR_KEY')) refuse('OPERATOR_KEY', 'is required')
    if (value.SERVICE_ENV === 'production') {
      if (!value.BASE_URL.startsWith('https:')) refuse('BASE_URL', 'must be https in production')
      if (value.TIME_SCALE !== 1) refuse('TIME_SCALE', 'is for the sandbox only')
      if (value.WEBHOOK_PRIVATE_ADDRESSES) refuse('WEBHOOK_PRIVATE_ADDRESSES', 'is for the sandbox only')
      if (!value.PROVIDER_PROFILES) refuse('PROVIDER_PROFILES', 'is required in production')
      if (!value.SMTP_URL && needs('SMTP_URL')) refuse('SMTP_URL', 'is required in production')
    } else if (!value.PROVIDER_PROFILES && !value.PROVIDER_SITE) {
      refuse('PROVIDER_PROFILES', 'is required where no PROVIDER_SITE is given')
    }
  })

export type Config = z.infer<typeof environment>

/** Names of the variables that `readConfig` reads. */
export const CONFIG_VARIABLES: ReadonlySet<string> = new Set(Object.keys(environment.shape))

/**
 * What one kind of process needs, or all of them together where none is named. Throws `ConfigError` with one line that names the first wrong
 * variable and never repeats its value.
 */
export function readConfig(env: Record<string, string | undefined>, { kind }: { kind?: string } = {}): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const result = environmentOf(kind).safeParse(given)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const name = String(issue?.path[0] ?? 'environment')
  const missing = given[name] === undefined
  throw new ConfigError(`${name}: ${missing && !issue?.message.startsWith('is ') ? 'is required' : issue?.message}`)
}
