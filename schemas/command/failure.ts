import { ERRORS, type ErrorCode, type ErrorValues, isErrorCode, ServiceError } from '../../core/errors.ts'

/** Why a command failed, as it is kept: the one who waits is told the text that the table has for it. */
export interface CommandFailure {
  /** One of core/errors. */
  code: string
  /** Absent in documents of versions that kept the text instead. */
  values?: Record<string, string>
  /** The text, in documents of those versions only. */
  message?: string
}

export const failureOf = ({ code, values }: ServiceError): CommandFailure => ({ code, values: { ...values } })

/** The error that a failure was; `internal` for one that is not known here. */
export function errorOfFailure({ code, values, message }: CommandFailure): ServiceError {
  if (!isErrorCode(code)) return new ServiceError('internal')
  return new ServiceError(code, values ?? valuesIn(message ?? '', code))
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The values that a text of the table was made with. */
function valuesIn(text: string, code: ErrorCode): ErrorValues {
  const pattern = ERRORS[code][1]
    .split(/(\{\w+\})/)
    .map((part) => (/^\{\w+\}$/.test(part) ? `(?<${part.slice(1, -1)}>.*)` : escaped(part)))
  return { ...new RegExp(`^${pattern.join('')}$`, 's').exec(text)?.groups }
}
