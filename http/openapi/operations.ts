import type { ErrorCode } from '../../core/errors.ts'
import { apiEndpoints } from '../../wire/api-endpoints.ts'
import type { Endpoint } from '../../wire/endpoint.ts'

/** An endpoint of the partners' API, as its description and the guide tell it. */
export interface Operation extends Endpoint {
  /** Its name in the table. */
  id: string
  /** Parameters as `{name}`. */
  template: string
  description: string
  errors: readonly ErrorCode[]
}

/** The table's errors have to be those that there are. */
const DESCRIBED: Readonly<Record<string, Endpoint & Pick<Operation, 'description' | 'errors'>>> = apiEndpoints

export const OPERATIONS: readonly Operation[] = Object.entries(DESCRIBED).map(([id, endpoint]) => ({
  ...endpoint,
  id,
  template: endpoint.path.replace(/:(\w+)/g, '{$1}'),
}))
