import { WebhookVerificationError } from './webhook-error.ts'

/** Room for many signatures, and still nothing that an attacker could keep a server busy with. */
const MAX_HEADER_LENGTH = 4096
const MAX_SIGNATURES = 20
const SIGNATURE_HEX_LENGTH = 64

export type SignatureHeader = {
  /** Unix seconds, as written in the header: the text is part of what is signed. */
  time: string
  /** The well-formed `v1` values, 32 bytes each, without repetitions. */
  signatures: Buffer[]
}

const malformed = (message: string) => new WebhookVerificationError('malformed-signature', message)

function splitParts(header: string): [scheme: string, value: string][] {
  const parts = header.split(',').map((part) => part.trim())
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      if (at < 1) throw malformed('The signature header is not a list of name=value')
      return [part.slice(0, at), part.slice(at + 1)]
    })
}

function readTime(values: string[]): string {
  const [time, ...others] = new Set(values)
  if (time === undefined) throw malformed('The signature header holds no t=')
  // A header that is sent twice arrives joined; it is one signature as long as it says the same.
  if (others.length > 0) throw malformed('The signature header holds several times')
  if (!/^\d{1,11}$/.test(time)) throw malformed('The time of the signature is not in Unix seconds')
  return time
}

function readSignatures(values: string[]): Buffer[] {
  if (values.length === 0) {
    throw new WebhookVerificationError('unsupported-scheme', 'The signature header holds no v1=')
  }
  if (values.length > MAX_SIGNATURES) throw malformed('The signature header holds too many signatures')
  const hexadecimal = values.filter((value) => /^[0-9a-f]*$/i.test(value))
  const complete = hexadecimal.filter((value) => value.length === SIGNATURE_HEX_LENGTH)
  if (complete.length > 0) return [...new Set(complete)].map((value) => Buffer.from(value, 'hex'))
  if (hexadecimal.some((value) => value.length < SIGNATURE_HEX_LENGTH)) {
    throw new WebhookVerificationError('truncated-signature', 'The signature is cut off')
  }
  throw malformed('The signature is not 64 hexadecimal digits')
}

/**
 * Reads `t=<unix seconds>,v1=<hmac hex>[,v1=…][,<unknown>=…]`. Unknown schemes are ignored, repetitions tolerated; a `v1`
 * that is no signature counts as one that does not match, as long as another one is well-formed.
 *
 * @throws WebhookVerificationError `missing-signature`, `malformed-signature`, `truncated-signature`, `unsupported-scheme`
 */
export function parseSignatureHeader(header: string | readonly string[] | null | undefined): SignatureHeader {
  const text = typeof header === 'string' ? header : (header ?? []).join(',')
  if (text.trim() === '') throw new WebhookVerificationError('missing-signature', 'There is no signature header')
  if (text.length > MAX_HEADER_LENGTH) throw malformed('The signature header is too long')
  const parts = splitParts(text)
  const valuesOf = (scheme: string) => parts.filter(([name]) => name === scheme).map(([, value]) => value)
  return { time: readTime(valuesOf('t')), signatures: readSignatures(valuesOf('v1')) }
}
