import * as assert from 'uvu/assert'
import type { z } from 'zod'
import { type AskOptions, type HttpWorld, OPERATOR_KEY } from '../../support/http.ts'

/** Asks as an operator; the answer has to be of the shape, with nothing beside it. */
export const operatorOf =
  (world: () => HttpWorld) =>
  async <T extends z.ZodObject>(shape: T, path: string, options: AskOptions = {}, status = 200) => {
    const answer = await world().ask(`/ops/${path}`, { key: OPERATOR_KEY, ...options })
    assert.is(answer.status, status, `${path}: ${answer.text}`)
    return shape.strict().parse(answer.body) as z.output<T>
  }

export const post = (body: unknown = {}): AskOptions => ({ method: 'POST', body })
