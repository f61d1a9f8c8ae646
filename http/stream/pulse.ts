import { WebSocket } from 'ws'
import type { Clock } from '../../core/clock.ts'
import { BEAT_MS } from '../../wire/stream-constants.ts'

/**
 * Pings the other side of a socket every `BEAT_MS`, and ends the socket once it has been silent for `silenceMs`: a network that passes nothing
 * closes nothing by itself. What a socket that is held back has sent is not read, so it is not judged meanwhile.
 */
export function keepPulse({
  socket,
  clock,
  silenceMs,
  onBeat = () => undefined,
}: {
  socket: WebSocket
  clock: Clock
  silenceMs: number
  /** Called for every beat of an open socket. */
  onBeat?: () => void
}): void {
  let heardAt = clock.elapsed()
  const note = (): void => {
    heardAt = clock.elapsed()
  }
  socket.on('message', note)
  socket.on('pong', note)
  const beat = (): void => {
    if (socket.isPaused) note()
    if (clock.elapsed() - heardAt > silenceMs) {
      socket.terminate()
      return
    }
    if (socket.readyState === WebSocket.OPEN) {
      socket.ping()
      onBeat()
    }
    timer = clock.timer(BEAT_MS, beat)
  }
  let timer = clock.timer(BEAT_MS, beat)
  socket.once('close', () => timer.cancel())
}
