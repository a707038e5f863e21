/**
 * Reading a file of classifiers and importers: YAML or JSON, every mistake named by file, line and
 * column.
 */
import type { z } from 'zod'
import { TouchstoneError } from '../../errors.ts'
import { readText } from '../../files.ts'
import { documentsOf, type Located } from '../../yaml.ts'
import type { Importer } from '../audit/importer.ts'
import { type ImporterData, importerFrom } from '../audit/importer-data.ts'
import { isShippedImporter, importer as registerImporter } from '../audit/importers.ts'
import type { Classifier } from '../surface/classifier.ts'
import { type ClassifierFile, expand } from '../surface/compact.ts'
import { classifierOf, registerTogether, shippedRule } from '../surface/registry.ts'
import { definitionsSchema } from './schema.ts'

/** What a file registered, by name. */
export type Definitions = { file: string; classifiers: string[]; importers: string[] }

/**
 * Register the classifiers and importers of a file. Nothing of a file is registered when something
 * in it is wrong.
 *
 * @throws TouchstoneError `file_unreadable`, and `yaml_syntax`, `classifier_invalid` and
 *   `importer_invalid` with file, line and column
 */
export function registerFile(path: string): Definitions {
  return registerText(readText(path), path)
}

/** As `registerFile`, of a text. `source`: its name in messages. */
export function registerText(text: string, source: string): Definitions {
  const documents = documentsOf(text, source)
  const found = documents.map((document) => ({ document, ...readOne(document) }))
  if (found.length === 0)
    throw invalid('expected a file of classifiers, got an empty one', `${source}:1:1`)
  const made = found.flatMap(({ classifiers }) => classifiers)
  const importers = found.flatMap(({ importers }) => importers)
  for (const one of made) requireNotShipped(one)
  for (const { document, file } of found) {
    requireNew(document, file)
    requireKinds(document, file, made)
  }
  try {
    if (made.length > 0) registerTogether(made.map(({ one }) => one))
  } catch (error) {
    throw placed(error, made)
  }
  for (const one of importers) registerImporter(one)
  return {
    file: source,
    classifiers: made.map(({ one }) => one.category),
    importers: importers.map(({ name }) => name),
  }
}

type Made = { one: Classifier; index: number; document: Located }
type DefinitionFile = Partial<ClassifierFile> &
  Pick<ClassifierFile, 'provider'> & { importers?: ImporterData[] }

function readOne(document: Located): {
  file: DefinitionFile
  classifiers: Made[]
  importers: Importer[]
} {
  const parsed = definitionsSchema.safeParse(document.value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw told(issue as z.core.$ZodIssue, document)
  }
  const file = parsed.data as DefinitionFile
  const whole = { classes: [], ...file } as unknown as ClassifierFile
  return {
    file,
    classifiers: expand(whole).map((one, index) => ({ one, index, document })),
    importers: (file.importers ?? []).map(importerFrom),
  }
}

/**
 * A file adds. A class that ships keeps its rule: what was recorded by it would else be bound by
 * another one.
 */
function requireNotShipped({ one, index, document: { locate, value } }: Made): void {
  const listed = index < ((value as { classes?: unknown[] }).classes ?? []).length
  const taken = shippedRule(one)
  if (!taken) return
  const { path, expected, got } = taken
  throw invalid(
    `expected ${expected}, got ${got}`,
    locate(listed ? ['classes', index, ...path] : ['reads']),
  )
}

/**
 * A class and verb bind by the first classifier that declares them, so that a second one would say
 * nothing.
 */
function requireNew({ locate }: Located, { provider, classes = [] }: DefinitionFile): void {
  for (const [i, { resource_type, category = resource_type, effects }] of classes.entries())
    for (const verb of Object.keys(effects)) {
      const known = classifierOf(resource_type, verb)
      if (known && known.category !== category)
        throw invalid(
          `expected a verb that no other classifier of ${resource_type} declares, got ${verb} of ${known.category} (${provider})`,
          locate(['classes', i, 'effects', verb]),
        )
    }
}

function requireKinds(
  { locate }: Located,
  { importers = [] }: DefinitionFile,
  made: readonly Made[],
): void {
  const isNew = (kind: string, verb: string) =>
    made.some(({ one }) => one.resource_type === kind && Object.hasOwn(one.effects, verb))
  for (const [i, { name, kinds, takes_back = [], object }] of importers.entries()) {
    if (isShippedImporter(name))
      throw invalid(
        `expected a name that no shipped importer has, got ${name}`,
        locate(['importers', i, 'name']),
        'importer_invalid',
      )
    for (const [kind, { action_class, verb }] of Object.entries(kinds))
      if (!isNew(action_class, verb) && !classifierOf(action_class, verb))
        throw invalid(
          `expected a class and verb that a classifier declares, got ${action_class} ${verb}`,
          locate(['importers', i, 'kinds', kind]),
          'importer_invalid',
        )
    if (takes_back.length > 0 && object === undefined)
      throw invalid(
        'expected object beside takes_back, got none',
        locate(['importers', i]),
        'importer_invalid',
      )
  }
}

/** A rule of classifiers that was broken, with the place of the member that breaks it. */
function placed(error: unknown, made: readonly Made[]): unknown {
  if (!(error instanceof TouchstoneError) || error.where === undefined) return error
  const [, category, member = ''] = /^classifier (.*?): (.*)$/.exec(error.where) ?? []
  const found = made.find(({ one }) => one.category === category)
  if (!found) return error
  const path = member
    .replace(/\[(\d+)\]/g, '.$1')
    .split('.')
    .map((part, i, parts) => {
      if (!/^\d+$/.test(part)) return part
      // The file names its fields; the classifier has them in a row.
      return parts[i - 1] === 'fields'
        ? (found.one.fields[Number(part)]?.name ?? part)
        : Number(part)
    })
  const message = error.message.replace(` (${error.where})`, '')
  return invalid(`${member}: ${message}`, found.document.locate(['classes', found.index, ...path]))
}

function told(issue: z.core.$ZodIssue, { value, locate }: Located): TouchstoneError {
  // Of the forms that a value may have, the one that it follows furthest says what is wrong with
  // it.
  if (issue.code === 'invalid_union') {
    const inner = issue.errors.flatMap((branch) => branch.slice(0, 1))
    const deepest = inner.toSorted((a, b) => b.path.length - a.path.length)[0]
    if (deepest && deepest.path.length > 0)
      return told({ ...deepest, path: [...issue.path, ...deepest.path] }, { value, locate })
  }
  const path =
    issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path
  const at = path.map(String).join('.')
  const message =
    issue.code === 'unrecognized_keys'
      ? `expected no such member, got "${issue.keys[0]}"`
      : issue.message.replace(/^Invalid input: /, '').replace(/, received /, ', got ')
  const code = path[0] === 'importers' ? 'importer_invalid' : 'classifier_invalid'
  return invalid(`${at === '' ? '' : `${at}: `}${message}`, locate(path), code)
}

function invalid(
  message: string,
  where: string,
  code: 'classifier_invalid' | 'importer_invalid' = 'classifier_invalid',
): TouchstoneError {
  return new TouchstoneError(code, message, { where })
}
