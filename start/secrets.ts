import { randomBytes } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ConfigError } from '../core/config.ts'
import { KEY_BYTES } from '../core/envelope.ts'
import { newApiKey, newSecret } from '../core/ids.ts'
import { mustBeOurs, ownFolder } from './own-folder.ts'

const kept = z.object({
  /** Base64; in production it comes from outside. */
  masterKey: z.string(),
  operatorKey: z.string(),
  app: z.object({ appSecret: z.string(), apiKey: z.string(), webhookSecret: z.string() }),
})

export type KeptSecrets = z.infer<typeof kept>

/** The secrets of one `DATA_DIR`, made at its first start and the same ever after; in a file that only its owner reads. */
export async function keepSecrets({ dataDir }: { dataDir: string }): Promise<KeptSecrets> {
  await ownFolder(dataDir)
  const file = join(dataDir, 'secrets.json')
  await mustBeOurs(file)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text !== undefined) return parseKept({ file, text })
  const secrets: KeptSecrets = {
    masterKey: randomBytes(KEY_BYTES).toString('base64'),
    operatorKey: newSecret(),
    app: { appSecret: newSecret(), apiKey: newApiKey(), webhookSecret: newSecret() },
  }
  // Renamed when complete: half a file after a crash would lock everybody out of the data.
  const unfinished = `${file}.unfinished`
  await rm(unfinished, { force: true })
  await writeFile(unfinished, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(unfinished, file)
  return secrets
}

function parseKept({ file, text }: { file: string; text: string }): KeptSecrets {
  try {
    return kept.parse(JSON.parse(text))
  } catch {
    throw new ConfigError(`${file} is not readable as secrets; put it back from a backup`)
  }
}
