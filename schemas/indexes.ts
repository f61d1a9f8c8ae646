import { createUploadIndexes } from './archive/export-upload.ts'
import { MODELS } from './models.ts'

/**
 * Creates the indexes of every collection, whichever of them this process works with: the first process of a new deployment may be
 * any. Safe to run from several at once.
 */
export async function createIndexes(): Promise<void> {
  for (const model of MODELS) await model.createIndexes()
  await createUploadIndexes()
}
