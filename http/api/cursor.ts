import { z } from 'zod'
import { ServiceError } from '../../core/errors.ts'
import type { SortKey } from '../../schemas/archive/conversation-order.ts'

const shape = z.tuple([z.int().nullable(), z.uuid()])

/** Names a place in a listing: the sort key of the last item before it. Says nothing that the listing did not say. */
export const writeCursor = ({ updateTime, _id }: SortKey): string =>
  Buffer.from(JSON.stringify([updateTime?.getTime() ?? null, _id])).toString('base64url')

/** Throws `ServiceError` `invalid_parameter` for what `writeCursor` did not write. */
export function readCursor(cursor: string): SortKey {
  try {
    const [time, _id] = shape.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
    const updateTime = time === null ? null : new Date(time)
    if (updateTime && Number.isNaN(updateTime.getTime())) throw new Error('no time')
    return { updateTime, _id }
  } catch {
    throw new ServiceError('invalid_parameter', { name: 'cursor', reason: 'must be a nextCursor of this listing' })
  }
}
