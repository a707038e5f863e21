/** The error that says what is wrong with a case, and where. */
import { TouchstoneError } from '../../errors.ts'

export type Path = (string | number | symbol)[]
/** Where a member, or its key, stands: a file with line and column, or a field. */
export type Locate = (path: Path, part?: 'key') => string

export function invalid(message: string, where: string, cause?: unknown): never {
  throw new TouchstoneError('case_invalid', message, {
    where,
    ...(cause !== undefined && { cause }),
  })
}
