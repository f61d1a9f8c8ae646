/** docs/security.md, The network: at most 64 KiB of an answer is read, 1 KiB kept. */
const READ_LIMIT = 64 * 1_024
export const KEPT_LIMIT = 1_024

/** What a terminal or a page could stumble over; tab and line feed may stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

/** The beginning of an answer as text of at most 1 KiB: no control or direction characters, none cut in half. */
export function keptText(bytes: Buffer): string {
  const text = new TextDecoder().decode(bytes.subarray(0, KEPT_LIMIT), { stream: true }).replace(UNSAFE, '')
  // Each byte that is not UTF-8 becomes a replacement character of three.
  return Buffer.from(text).length <= KEPT_LIMIT
    ? text
    : new TextDecoder().decode(Buffer.from(text).subarray(0, KEPT_LIMIT), { stream: true })
}

/** Reads an answer to its end or to the limit, whichever comes first; returns its beginning. Leaving early closes the connection. */
export async function readAnswer(body: AsyncIterable<Buffer>): Promise<string> {
  const kept: Buffer[] = []
  let read = 0
  for await (const chunk of body) {
    if (read < KEPT_LIMIT) kept.push(chunk)
    read += chunk.length
    if (read >= READ_LIMIT) break
  }
  return keptText(Buffer.concat(kept))
}
