/** Numbers of the stream protocol (wire/stream.ts) that the visitor's page is built with too. */
export const STREAM_PATH = '/start/stream'

/** Bounds of a remote screen's sides, in CSS pixels, */
export const SMALLEST_SIDE = 240
export const LARGEST_SIDE = 2_560
/** of its device pixels for each of them, */
export const LARGEST_SCALE = 3
/** and of its device pixels in all: a desktop's page asks for 1,440 by 960 at ratio 2, which is 5.5 million. */
export const MOST_PIXELS = 8_000_000

export const FRAMES_IN_FLIGHT = 2
/** A page's longest text message: pasted text. */
export const LONGEST_TEXT = 10_000
export const PAGE_MESSAGE_BYTES = 64 * 1024
/** Page messages a second that a farm node carries out; a fast mouse makes 125. A page that sends more is read more slowly. */
export const PAGE_MESSAGES_PER_SECOND = 400

/** How often each side gives a sign of life; silence for this long says that nothing comes through. Both within the 10 s that a page may be wrong. */
export const BEAT_MS = 2_500
export const SILENCE_MS = 7_500
/** Input that a page keeps while nothing comes through. */
export const HELD_INPUTS = 500

/** Why a socket was closed, as its close code: its page does not keep to the protocol (RFC 6455, 7.4.1), */
export const CLOSE_PROTOCOL = 1008
/** the flow has ended (its last state was told), */
export const CLOSE_ENDED = 4000
/** a newer viewer took over, */
export const CLOSE_REPLACED = 4001
/** the node gave the lease up and another one may take it, */
export const CLOSE_MOVED = 4002
/** this browser has begun another flow since, */
export const CLOSE_OTHER_FLOW = 4003
/** or, from the relay to the node, the visitor has closed the page or left it for another. */
export const CLOSE_LEFT = 4004

/** Bits of `modifiers`, as in CDP. */
export const ALT = 1
export const CONTROL = 2
export const META = 4
export const SHIFT = 8
