import type { IngestResult } from '../../../../sdk/src/index.ts'
import type { ModelAccount } from './account.ts'
import type { Model } from './model.ts'
import type { Seen } from './seen.ts'
import type { ModelApp, ModelWorld } from './world.ts'

/** One history: the service as its apps see it on one side, the model on the other. */
export interface Run {
  world: ModelWorld
  model: Model
  apps: ModelApp[]
  userRefs: string[]
  accounts: ModelAccount[]
  /** Answers of ingestions. */
  ingested: IngestResult[]
  seen: Seen
}

/** Steps name what they mean by any small number. */
export const at = <T>(list: T[], index: number): T => {
  const found = list[index % list.length]
  if (found === undefined) throw new Error('nothing to choose from')
  return found
}

export const sum = (list: number[]): number => list.reduce((all, each) => all + each, 0)
