/** What the API showed in the course of a history. */
export interface Seen {
  /** By archive, of each external id: the id, and which of its versions was there last. */
  archives: Map<number, Map<string, { id: string; version: number }>>
  /** The archive and the external id that an id names. */
  names: Map<string, string>
  /** By archive, the payload of each external id when the archive was compared last. */
  compared: Map<number, Map<string, string>>
  /** By archive, how many payloads differed from those compared before: as many updates are told of, at the least. */
  updates: Map<number, number>
}

export const createSeen = (): Seen => ({
  archives: new Map(),
  names: new Map(),
  compared: new Map(),
  updates: new Map(),
})
