import type { View, ViewName } from '../view.ts'
import { actors } from './actors.ts'
import { audit } from './audit.ts'
import { browsers } from './browsers.ts'
import { connections } from './connections.ts'
import { deliveries } from './deliveries.ts'
import { overview } from './overview.ts'

export const VIEWS: Readonly<Record<ViewName, View>> = {
  overview,
  actors,
  connections,
  browsers,
  deliveries,
  audit,
}
