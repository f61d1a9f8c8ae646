import { readdir } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import mongoose from 'mongoose'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MODELS } from '../../schemas/models.ts'

const FOLDER = fileURLToPath(new URL('../../schemas', import.meta.url))

test('every model that a file of schemas/ declares is in the list', async () => {
  for (const entry of await readdir(FOLDER, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await import(pathToFileURL(`${entry.parentPath}/${entry.name}`).href)
  }
  const listed = MODELS.map(({ modelName }) => modelName)
  assert.equal(listed.toSorted(), mongoose.modelNames().toSorted())
})

test.run()
