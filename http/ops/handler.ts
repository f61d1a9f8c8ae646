import type { opsEndpoints } from '../../wire/ops-endpoints.ts'
import type { Handlers } from '../kit/endpoint-router.ts'
import type { HttpRuntime } from '../kit/runtime.ts'

type OpsHandlers = Handlers<typeof opsEndpoints>

/** Makes the handlers of some endpoints of `/ops`. */
export type OpsPart<N extends keyof OpsHandlers> = (runtime: HttpRuntime) => Pick<OpsHandlers, N>
