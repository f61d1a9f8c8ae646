import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import mongoose from 'mongoose'
import { createUploadIndexes } from './archive/export-upload.ts'

const FOLDER = dirname(fileURLToPath(import.meta.url))

/**
 * Creates the indexes of every collection, whichever of them this process works with: the first process of a new deployment may be
 * any. Safe to run from several at once.
 */
export async function createIndexes(): Promise<void> {
  for (const name of await readdir(FOLDER, { recursive: true })) {
    if (name.endsWith('.ts')) await import(pathToFileURL(join(FOLDER, name)).href)
  }
  for (const model of Object.values(mongoose.models)) await model.createIndexes()
  await createUploadIndexes()
}
