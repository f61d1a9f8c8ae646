import { isStorable } from '../../wire/text.ts'

/**
 * The most bytes that a provider's id may have. Ids are keys of indexes, for which a database may have no more than 2,700 bytes, and
 * those of a page make one query.
 */
export const LONGEST_EXTERNAL_ID = 1_024

/** Whether something can be stored under this id: half of a surrogate pair has no bytes to derive an id from. */
export const isExternalId = (id: string): boolean => Buffer.byteLength(id) <= LONGEST_EXTERNAL_ID && isStorable(id)
