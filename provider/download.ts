import { isIP } from 'node:net'
import type { Dispatcher } from 'undici'
import { type Clock, MINUTE } from '../core/clock.ts'
import { parseUrl } from '../core/parse-url.ts'
import { isPublicAddress } from '../core/public-address.ts'
import { createPublicAgent } from '../core/public-agent.ts'
import { throwIfRefused } from './caller.ts'
import { AnswerTooLargeError, ProviderContractError } from './errors.ts'
import { hostAllowed, isLoopbackHost, onLoopback, type ProviderProfile } from './profile.ts'
import { CONNECT_TIMEOUT_MS, MOST_BYTES, type ProviderAnswer, providerAgent, request } from './request.ts'

const DOWNLOAD_TIMEOUT_MS = 3 * MINUTE
const MAX_REDIRECTS = 3

/** A file's bytes with the media type that came with them, or word that there are more of them than asked for. */
export type FileAnswer =
  | ({ tooLarge: false; bytes: Buffer; contentType: string | null } & Pick<ProviderAnswer, 'release'>)
  | { tooLarge: true }

/** Hosts that an answer names. */
const publicAgent = createPublicAgent({ allowPrivate: false, connectMs: CONNECT_TIMEOUT_MS, mostBytes: MOST_BYTES })

interface DownloadOptions {
  url: string
  profile: ProviderProfile
  maxBytes: number
  clock: Clock
  signal?: AbortSignal | undefined
  pace?: (() => Promise<void>) | undefined
  timeoutMs?: number | undefined
  /** Instead of the process's own connections to configured hosts. */
  dispatcher?: Dispatcher | undefined
}

/**
 * Fetches a `download_url`, without credentials, or null for a file that is gone. The address comes from an answer, not
 * from the configuration: it must be of the profile's `allowedHosts`, or https with a public address, or on this machine
 * when the provider is; the same holds for each redirect. Throws as the provider's other calls do, but repeats nothing.
 */
export async function downloadFile(options: DownloadOptions): Promise<FileAnswer | null> {
  const { maxBytes, clock, signal, pace, timeoutMs = DOWNLOAD_TIMEOUT_MS } = options
  let url = new URL(options.url)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const dispatcher = dispatcherFor(url, options)
    await pace?.()
    const headers = { accept: '*/*' }
    let answer: ProviderAnswer
    try {
      answer = await request({
        what: 'file download',
        url: url.href,
        headers,
        timeoutMs,
        maxBytes,
        clock,
        signal,
        dispatcher,
      })
    } catch (error) {
      if (error instanceof AnswerTooLargeError) return { tooLarge: true }
      throw error
    }
    const { status, headers: given, body: bytes, release } = answer
    if (status === 200) return { tooLarge: false, bytes, contentType: given.get('content-type'), release }
    release()
    const location = given.get('location')
    const next = status >= 300 && status < 400 && location !== null ? parseUrl(location, url) : null
    if (next) {
      url = next
      continue
    }
    if (status === 404 || status === 410) return null
    throwIfRefused(answer, { what: 'file download', now: clock.now() })
    throw new ProviderContractError(`The provider's file download answers ${status}`)
  }
  throw new ProviderContractError("The provider's file download redirects too often")
}

/** The connections that may fetch this address; throws where none may. */
function dispatcherFor(url: URL, { profile, dispatcher = providerAgent }: DownloadOptions): Dispatcher {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const local = isLoopbackHost(host)
  if (/^https?:$/.test(url.protocol)) {
    // Configured hosts are trusted as the API's own is: it may well be on a private network, and without https.
    if (hostAllowed(profile, host) && (!local || onLoopback(profile))) return dispatcher
    if (local && onLoopback(profile)) return dispatcher
    if (url.protocol === 'https:' && !local && (isIP(host) === 0 || isPublicAddress(host))) return publicAgent
  }
  throw new ProviderContractError("The provider's file call gives an address that may not be fetched")
}
