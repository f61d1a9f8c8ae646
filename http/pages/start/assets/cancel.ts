import { find } from '../../kit/assets/dom.ts'
import { post } from './post.ts'

/** The button that ends the flow, asked once more. `onCancelled` where it ended, `onRefused` where it did not. */
export function listenToCancel({
  ready,
  onCancelled,
  onRefused,
}: {
  /** Resolves once the flow was begun, or could not be. */
  ready: Promise<unknown>
  onCancelled: () => void
  onRefused: (why: 'too_late' | 'not_answered') => void
}): void {
  const question = find<HTMLDialogElement>('[data-cancel-question]')
  find('[data-cancel]').addEventListener('click', () => question.showModal())
  find('[data-cancel-no]').addEventListener('click', () => question.close())
  find('[data-cancel-yes]').addEventListener('click', async () => {
    question.close()
    // A flow that is just beginning would come after its own end.
    await ready
    const answer = await post<{ ended: boolean }>('/start/cancel')
    if (!answer) return onRefused('not_answered')
    if ('ok' in answer && !answer.ok.ended) return onRefused('too_late')
    onCancelled()
  })
}
