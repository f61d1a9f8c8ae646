import { embedded } from './embedded.ts'

/** How a wrapped data key (core/envelope) lies in a document. */
export const wrappedKey = embedded({ masterKeyId: String, bytes: Buffer })
