import { fileBucket } from '../../schemas/archive/file-bucket.ts'

const attachments = fileBucket('attachment_files')

/** The (encrypted) bytes of a stored attachment. Throws where there are none. */
export async function readAttachmentBytes({ id }: { id: string }): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of attachments.download(id)) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
