import { z } from 'zod'
import { ConfigError } from '../core/config.ts'
import { parseUrl } from '../core/parse-url.ts'

const MOST_PROCESSES = 64
const processes = z.coerce.number().int().min(0).max(MOST_PROCESSES).default(1)

/** What the parent itself needs (docs/behaviour.md, Environment); its children check the rest with `readConfig`. */
const environment = z.object({
  SERVICE_ENV: z.enum(['sandbox', 'production']).default('sandbox'),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(4000),
  BASE_URL: z.string().optional(),
  DATA_DIR: z.string().min(1).default('.data'),
  HTTP_PROCESSES: processes,
  ACTOR_PROCESSES: processes,
  FARM_PROCESSES: processes,
})

export type Settings = z.infer<typeof environment> & {
  /** `WEBHOOK_URL` as given: empty means that the demo app has none, undefined that the example partner runs. */
  webhookUrl: string | undefined
}

/** Throws `ConfigError` with one line that names the first wrong variable. */
export function readSettings(env: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const result = environment.safeParse(given)
  if (!result.success) {
    const issue = result.error.issues[0]
    throw new ConfigError(`${String(issue?.path[0])}: ${issue?.message}`)
  }
  const webhookUrl = env['WEBHOOK_URL']
  if (webhookUrl && !/^https?:$/.test(parseUrl(webhookUrl)?.protocol ?? '')) {
    throw new ConfigError('WEBHOOK_URL: must be an http or https address')
  }
  return { ...result.data, webhookUrl }
}
