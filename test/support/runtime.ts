import { createRuntime, type Runtime } from '../../core/process.ts'

/** A process of the service as far as tests need one: on this database, with no address that answers, and silent. */
export const testRuntime = ({ url, env }: { url: string; env?: Record<string, string> }): Runtime =>
  createRuntime({
    kind: 'test',
    env: {
      MONGODB_URL: url,
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      BASE_URL: 'http://127.0.0.1:1',
      OPERATOR_KEY: 'operator-key-of-the-tests-0123456789',
      PROVIDER_SITE: 'http://127.0.0.1:1',
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
      ...env,
    },
  })
