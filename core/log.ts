import pino, { type Logger } from 'pino'

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

/** URLs in error messages may carry tokens in their query; what follows the question mark is cut. */
const withoutQueries = (text: string): string => text.replace(/(https?:\/\/[^\s?"']+)\?[^\s"']*/g, '$1?[redacted]')

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
      base: { name, pid: process.pid },
      serializers: {
        err: (error: unknown) => {
          const plain = pino.stdSerializers.err(error as Error)
          return typeof plain === 'object' && plain !== null && 'message' in plain
            ? {
                type: plain.type,
                message: withoutQueries(plain.message),
                stack: withoutQueries(plain.stack),
                code: (error as { code?: unknown }).code,
              }
            : { message: withoutQueries(String(error)) }
        },
      },
    },
    destination ?? pino.destination({ fd: 2, sync: true }),
  )
}
