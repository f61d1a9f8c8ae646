/** Waits for an answer in full. Throws what a bad one says: a bench that is refused would measure how quickly. */
export async function answered(url: string, options?: RequestInit): Promise<void> {
  const answer = await fetch(url, options)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${text}`)
}
