/** Controls of forms that follow from the parameters of an operation: their kind, label, help, options and limits. */
import { IsOptional, type TSchema } from 'typebox';
import { type Marked, marks, type Plan, reaches } from '../http/index.ts';
import type { Field, Option } from './forms.ts';

/** What a form says about a control beyond its parameter. `value` is what something new starts with. */
export interface Over extends Partial<Omit<Field, 'name'>> {
  /** The values of an enumeration in words, in the order in which they are offered; others are left out. */
  words?: Readonly<Record<string, string>>;
}

interface Json extends Marked {
  type?: string;
  description?: string;
  deprecated?: boolean;
  anyOf?: Json[];
  enum?: (string | number)[];
  items?: Json;
  default?: unknown;
  format?: string;
  maxLength?: number;
}

/** Words that are written in their own way. */
const spellings: Readonly<Record<string, string>> = {
  id: 'ID',
  ids: 'IDs',
  api: 'API',
  ssl: 'SSL',
  lfs: 'LFS',
  ip: 'IP',
  url: 'address',
  dco: 'DCO',
  cli: 'command line',
  cicd: 'CI/CD',
  pwa: 'application',
  regex: 'pattern',
};

/** A name of the API in words: `first_seen_at` as “First seen at”. */
export function wordsOf(name: string): string {
  const words = name
    .split('_')
    .map((word) => spellings[word] ?? word)
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The schema of a value that is not null. */
const insideOf = (schema: Json): Json => schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
const isNullable = ({ anyOf }: Json): boolean => anyOf?.some(({ type }) => type === 'null') ?? false;

const optionsOf = (values: readonly (string | number)[], words: Over['words']): Option[] =>
  words === undefined
    ? values.map((value) => ({ value, label: wordsOf(String(value)) }))
    : Object.entries(words)
        .filter(([value]) => values.map(String).includes(value))
        .map(([value, label]) => ({ value, label }));

/** The kind of a control and what belongs to it; undefined for objects, which have none. */
function kindOf(schema: Json, words: Over['words']): Partial<Field> | undefined {
  const { file, long, comma } = schema[marks] ?? {};
  if (file) return { kind: 'file' };
  if (schema.enum) return { kind: 'select', options: optionsOf(schema.enum, words) };
  if (schema.type === 'boolean') return { kind: 'checkbox' };
  if (schema.type === 'integer' || schema.type === 'number') return { kind: 'number' };
  if (schema.type === 'array' && schema.items?.enum)
    return { kind: 'checkboxes', options: optionsOf(schema.items.enum, words) };
  if (schema.type === 'array' && comma) return { help: 'Separated by commas.' };
  if (schema.type !== 'string') return undefined;
  if (schema.format === 'date') return { kind: 'date' };
  if (schema.format === 'date-time') return { kind: 'datetime-local', help: 'In UTC.' };
  return { kind: long ? 'area' : 'text', ...(schema.maxLength === undefined ? {} : { maximum: schema.maxLength }) };
}

/** How an empty control clears the value of what is edited. */
function clearingOf(schema: Json, { kind = 'text' }: Partial<Field>): Pick<Field, 'is_clearable'> {
  if (kind === 'file' || kind === 'checkbox' || kind === 'select') return {};
  const isText = kind === 'text' || kind === 'area';
  if (!isNullable(schema)) return isText || kind === 'checkboxes' ? { is_clearable: true } : {};
  return { is_clearable: insideOf(schema).type === 'string' && isText ? 'null' : true };
}

/** A value of a reply as its control shows it. */
function valueIn(value: unknown, { kind }: Partial<Field>): Pick<Field, 'value' | 'chosen'> {
  if (kind === 'checkboxes') return { chosen: Array.isArray(value) ? value : [] };
  if (Array.isArray(value)) return { value: value.join(', ') };
  if (kind === 'datetime-local' && typeof value === 'string') return { value: value.slice(0, 19) };
  return { value: value as Field['value'] };
}

const keptHelp = (help: Field['help']) => [help, help && '. ', 'Left empty, it stays as it is.'];

/** What a control is for. */
export interface Controlled {
  /** The values of what is edited; undefined for something new. */
  values: Readonly<Record<string, unknown>> | undefined;
  plan: Plan | undefined;
}

/**
 * The control of a parameter, with the value of what is edited or the default of the parameter.
 * @returns undefined below the plan of the parameter, and for a selection without options
 */
export function controlOf(
  name: string,
  parameter: TSchema,
  { words, value: start, ...over }: Over,
  { values, plan }: Controlled,
): Field | undefined {
  const schema = parameter as Json;
  const inner = insideOf(schema);
  if (!reaches(plan ?? 'free', schema[marks]?.plan)) return undefined;
  const own = kindOf(inner, words);
  if (own === undefined && over.kind === undefined && over.chosen === undefined)
    throw new Error(`The parameter ${name} has no control.`);
  const { description } = { ...inner, ...schema };
  const help = (schema.deprecated ? undefined : description?.replaceAll('`', '')) ?? own?.help;
  const field = { name, label: wordsOf(name), ...own, ...(help && { help }), ...over };
  if (over.options?.length === 0) return undefined;
  if (field.kind === 'select') {
    const isOpen = values === undefined && start === undefined && IsOptional(parameter) && inner.default === undefined;
    if (isOpen && over.options === undefined)
      field.options = [{ value: '', label: 'As usual' }, ...(field.options ?? [])];
  }
  const isText = field.kind !== 'select' && field.kind !== 'checkbox' && field.kind !== 'checkboxes';
  if (values === undefined)
    return {
      ...(!IsOptional(parameter) && inner.default === undefined && isText && { is_required: true }),
      ...valueIn(start ?? inner.default, field),
      ...field,
    };
  // What replies never show, such as a secret, stays when it is left empty.
  if (!(name in values)) return { ...field, ...(isText && field.kind !== 'file' && { help: keptHelp(field.help) }) };
  return { ...valueIn(values[name], field), ...clearingOf(schema, field), ...field };
}
