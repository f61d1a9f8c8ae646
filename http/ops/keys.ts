import type { ApiKey } from '../../schemas/app/app.ts'
import { createApiKey, listApiKeys, revokeApiKey, rotateAppSecret } from '../actions/app-secrets.ts'
import { createOperatorKey, listOperatorKeys, revokeOperatorKey } from '../actions/operator-keys.ts'
import type { OpsPart } from './handler.ts'
import { isoOrNull } from './iso.ts'

export const keyHandlers: OpsPart<
  | 'listApiKeys'
  | 'createApiKey'
  | 'revokeApiKey'
  | 'rotateSecret'
  | 'listOperatorKeys'
  | 'createOperatorKey'
  | 'revokeOperatorKey'
> = (runtime) => ({
  listApiKeys: async ({ params }) => ({
    keys: (await listApiKeys(params)).map((key) => ({ id: key.id, ...view(key) })),
  }),
  createApiKey: async ({ params, body, by }) => createApiKey({ ...params, ...body, by, runtime }),
  revokeApiKey: async ({ params, by }) => {
    await revokeApiKey({ ...params, by, runtime })
    return { ok: true }
  },
  rotateSecret: async ({ params, body, by }) => {
    const fresh = await rotateAppSecret({ ...params, ...body, by, runtime })
    return body.secret === 'app' ? { appSecret: fresh } : { webhookSecret: fresh }
  },
  listOperatorKeys: async () => ({
    keys: (await listOperatorKeys()).map((key) => ({ id: key._id, role: key.role, ...view(key) })),
  }),
  createOperatorKey: async ({ body, by }) => createOperatorKey({ ...body, by, runtime }),
  revokeOperatorKey: async ({ params, by }) => {
    await revokeOperatorKey({ ...params, by, runtime })
    return { ok: true }
  },
})

const view = ({ name, hint, createdAt, revokedAt }: Pick<ApiKey, 'name' | 'hint' | 'createdAt' | 'revokedAt'>) => ({
  name,
  hint,
  createdAt: createdAt.toISOString(),
  revokedAt: isoOrNull(revokedAt),
})
