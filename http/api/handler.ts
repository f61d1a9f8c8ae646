import type { apiEndpoints } from '../../wire/api-endpoints.ts'
import type { Handlers } from '../kit/endpoint-router.ts'

type ApiHandlers = Handlers<typeof apiEndpoints>
export type ApiHandler<N extends keyof ApiHandlers> = ApiHandlers[N]
