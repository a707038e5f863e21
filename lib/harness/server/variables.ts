/**
 * `$NAME` in texts of a case or configuration: variables of this process, so that no secret has to
 * stand in a file.
 */
import { TouchstoneError } from '../../errors.ts'
import { keepHeaders, keepSecret, keepSecrets } from '../../secrets.ts'

/**
 * Values with `$NAME` and `${NAME}` taken from the environment. @throws TouchstoneError
 * `setting_missing`
 */
export function filledIn(
  values: { readonly [name: string]: string },
  where: string,
): { [name: string]: string } {
  const filled = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value.replace(
        /\$(?:([A-Z_][A-Z0-9_]*)|\{([A-Z_][A-Z0-9_]*)\})/g,
        (_, bare?: string, braced?: string) => {
          const variable = (bare ?? braced) as string
          const found = process.env[variable]
          if (!found)
            throw new TouchstoneError('setting_missing', `expected ${variable} to be set`, {
              where: `${where}.${name}`,
            })
          return keepSecret(found)
        },
      ),
    ]),
  )
  return keepSecrets(filled)
}

/** `filledIn` of headers: a value is a secret unless the header is known to carry none. */
export function headersFilledIn(
  headers: { readonly [name: string]: string },
  where: string,
): { [name: string]: string } {
  return keepHeaders(filledIn(headers, where))
}
