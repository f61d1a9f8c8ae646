/**
 * A frame of the stream as it goes over the wire: binary messages of at most `PART_BYTES` of the picture each, in order. Each begins with a header
 * (big-endian): frame number u32, remote width u16, remote height u16 (CSS pixels both), where its part begins in the picture u32, bytes of
 * the whole picture u32. A page is told of a message once all of it is there: on a poor link one for the whole picture would be a silence.
 */
export interface Frame {
  number: number
  /** CSS pixels of the remote viewport. */
  width: number
  height: number
  jpeg: Uint8Array
}

const HEADER_BYTES = 16
/** At 10 kbit/s a page hears of the link within its silence (`SILENCE_MS`). */
const PART_BYTES = 8 * 1024

export function* frameMessages({ number, width, height, jpeg }: Frame): Generator<Uint8Array> {
  for (let at = 0; at < jpeg.byteLength; at += PART_BYTES) {
    const part = jpeg.subarray(at, at + PART_BYTES)
    const message = new Uint8Array(HEADER_BYTES + part.byteLength)
    const header = new DataView(message.buffer)
    header.setUint32(0, number)
    header.setUint16(4, width)
    header.setUint16(6, height)
    header.setUint32(8, at)
    header.setUint32(12, jpeg.byteLength)
    message.set(part, HEADER_BYTES)
    yield message
  }
}

/** Returns what takes the binary messages of a page, and tells of each frame once it is whole; one whose socket was lost is left. */
export function createFrameReader(onFrame: (frame: Frame) => void): (message: Uint8Array) => void {
  let jpeg = new Uint8Array(0)
  return (message) => {
    const header = new DataView(message.buffer, message.byteOffset)
    const part = message.subarray(HEADER_BYTES)
    const at = header.getUint32(8)
    if (at === 0) jpeg = new Uint8Array(header.getUint32(12))
    jpeg.set(part, at)
    if (at + part.byteLength < jpeg.byteLength) return
    onFrame({ number: header.getUint32(0), width: header.getUint16(4), height: header.getUint16(6), jpeg })
  }
}
