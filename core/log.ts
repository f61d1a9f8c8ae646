import pino, { type Logger } from 'pino'
import { traceIds } from './tracing.ts'

export type { Logger }

/** Names of fields that never reach a log line, at the top level and one below (docs/security.md, Secrets and tokens). */
const SECRET_FIELDS = [
  'token',
  'sessionToken',
  'accessToken',
  'cookie',
  'cookies',
  'authorization',
  'Authorization',
  'set-cookie',
  'apiKey',
  'appSecret',
  'webhookSecret',
  'clientSecret',
  'secret',
  'key',
  'masterKey',
  'password',
  'email',
  'content',
  'messages',
  'payload',
  'credential',
  'text',
  'signInUrl',
]

const redact = {
  paths: SECRET_FIELDS.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
  censor: '[redacted]',
}

/**
 * What the text of an error may repeat: addresses with a token in their query or fragment, or a password before their host, and the value that a database
 * refused, which is an e-mail address or a key as often as not.
 */
const SECRET_TEXTS: [RegExp, string][] = [
  [/\b(\w{1,20}:\/\/[^\s?#"']+)([?#])[^\s"']*/g, '$1$2[redacted]'],
  [/\b(\w{1,20}:\/\/)[^\s/@"']+@/g, '$1[redacted]@'],
  [/\beyJ[\w-]+\.[\w.-]+/g, '[redacted]'],
  [/\bccs(op)?_[0-9a-f]{16,}/g, '[redacted]'],
  [/[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,8}/g, '[redacted]'],
]

/** Longer texts of errors quote what came from outside, which the patterns would take long to read. */
const LONGEST_TEXT = 4_000

const withoutSecrets = (text: string): string =>
  SECRET_TEXTS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text.slice(0, LONGEST_TEXT))

/** Writes JSON lines to stderr: stdout belongs to the caller (docs/behaviour.md, npm start -- --json). */
export function createLog({
  name,
  level,
  destination,
}: {
  name: string
  level: string
  destination?: pino.DestinationStream
}): Logger {
  return pino(
    {
      name,
      level,
      redact,
      mixin: traceIds,
      base: { name, pid: process.pid },
      serializers: {
        err: (error: unknown) => {
          const plain = pino.stdSerializers.err(error as Error)
          return typeof plain === 'object' && plain !== null && 'message' in plain
            ? {
                type: plain.type,
                message: withoutSecrets(plain.message),
                stack: withoutSecrets(plain.stack),
                code: (error as { code?: unknown }).code,
              }
            : { message: withoutSecrets(String(error)) }
        },
      },
    },
    destination ?? pino.destination({ fd: 2, sync: true }),
  )
}
