import { ServiceError } from '../../core/errors.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { Deliveries, type Delivery } from '../../schemas/delivery/delivery.ts'

/** Deliveries carry no connection of their own: its app's newest are looked through, so that a look stays bounded. */
const LOOKED_THROUGH = 500

/** One connection with those of its app's newest deliveries that speak of it, newest first. Throws `not_found`. */
export async function getConnection({
  id,
}: {
  id: string
}): Promise<{ connection: Connection; deliveries: Delivery[] }> {
  const connection = await Connections.findById(id.toLowerCase()).lean<Connection>()
  if (!connection) throw new ServiceError('not_found')
  const { _id, appId, capturedAt } = connection
  const newest = await Deliveries.find({ appId, createdAt: trusted({ $gte: capturedAt }) })
    .sort({ createdAt: -1 })
    .limit(LOOKED_THROUGH)
    .lean<Delivery[]>()
  return { connection, deliveries: newest.filter(({ body }) => body.includes(_id)) }
}
