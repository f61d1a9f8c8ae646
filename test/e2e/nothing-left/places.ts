import { gunzipSync } from 'node:zlib'
import type { Db } from 'mongodb'

interface Place {
  /** `collection.field.field`; elements of arrays as `*`. */
  place: string
  /** What was found there. */
  name: string
}

/** Every place of a database, in every collection and field, that holds one of these texts (their names by text). */
export async function* placesOf({
  database,
  secrets,
}: {
  database: Db
  secrets: Map<string, string>
}): AsyncIterable<Place> {
  for (const { name: collection } of await database.listCollections().toArray())
    for await (const document of database.collection(collection).find({}, { promoteBuffers: true }))
      for (const { path, text } of textsOf(document, collection))
        for (const [secret, name] of secrets) if (text.includes(secret)) yield { place: path, name }
}

/** The text of every value, names of fields too; of bytes as they are, and unpacked where they are packed. */
function* textsOf(value: unknown, path: string): Iterable<{ path: string; text: string }> {
  if (Buffer.isBuffer(value)) {
    yield { path, text: value.toString('latin1') }
    const unpacked = unzipped(value)
    if (unpacked) yield { path, text: unpacked }
  } else if (Array.isArray(value)) for (const each of value) yield* textsOf(each, `${path}.*`)
  else if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    for (const [name, each] of Object.entries(value)) {
      yield { path, text: name }
      yield* textsOf(each, `${path}.${name}`)
    }
  else yield { path, text: String(value) }
}

function unzipped(bytes: Buffer): string | undefined {
  try {
    return gunzipSync(bytes).toString('utf8')
  } catch {
    return undefined
  }
}
