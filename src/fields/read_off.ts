/** What is read off the fields of a noun. */
import { type RawBuilder, sql } from 'kysely';
import { type TProperties, type TSchema, Type } from 'typebox';
import { allOptional, type Marked, marks, type Plan, reaches } from '../http/index.ts';
import type { Field as FormField, Option } from '../pages/index.ts';
import type { Members } from '../relations/index.ts';
import type { CreationOf, Field, Fields, ReplyValue, SchemasOf } from './field.ts';

/** The entries that have a facet, in order. */
const having = <Facet extends keyof Field>(fields: Fields, facet: Facet) =>
  Object.entries(fields).flatMap(([name, field]) => {
    const value = field[facet];
    return value === undefined ? [] : [[name, value] as const];
  });

const schemasOf = <F extends Fields, Facet extends 'input' | 'create' | 'update' | 'reply'>(fields: F, facet: Facet) =>
  Object.fromEntries(having(fields, facet)) as SchemasOf<F, Facet>;

/** The members of a reply. */
export const replyOf = <F extends Fields>(fields: F): SchemasOf<F, 'reply'> => schemasOf(fields, 'reply');

/** The parameters of creation: first those of changes, too. */
export function creationOf<F extends Fields>(fields: F): CreationOf<F> {
  const [shared, own] = parametersOf(fields, 'create');
  return Object.fromEntries(
    [...shared, ...own].map(([name, schema]) => [name, fields[name]!.is_required ? schema : Type.Optional(schema)]),
  ) as CreationOf<F>;
}

/** The parameters of changes: first those of creation, too. */
export function editOf<F extends Fields>(fields: F) {
  const [shared, own] = parametersOf(fields, 'update');
  return allOptional(Object.fromEntries([...shared, ...own]) as SchemasOf<F, 'input'> & SchemasOf<F, 'update'>);
}

/** Parameters in the order of their documentation: first the named ones. */
export function inOrder<P extends TProperties>(names: readonly string[], parameters: P): P {
  const first = names.filter((name) => Object.hasOwn(parameters, name)).map((name) => [name, parameters[name]]);
  return { ...Object.fromEntries(first), ...parameters };
}

/** The parameters that the other form has, too, and those of this form alone. */
function parametersOf(fields: Fields, form: 'create' | 'update') {
  const all = Object.entries(fields).flatMap(([name, { input, ...field }]) => {
    const schema = input ?? field[form];
    return schema === undefined ? [] : [[name, schema] as const];
  });
  const isShared = ([name]: readonly [string, TSchema]) => {
    const { input, create, update } = fields[name]!;
    return input !== undefined || (create !== undefined && update !== undefined);
  };
  return [all.filter(isShared), all.filter((each) => !isShared(each))] as const;
}

/** The members of exported records. */
export const membersOf = (fields: Fields): Members => Object.fromEntries(having(fields, 'relation'));

/** The names of fields that match. */
type NamesOf<F, Shape> = { [Name in keyof F]: F[Name] extends Shape ? Name : never }[keyof F] & string;

/** The columns that are written as given. */
export const givenColumns = <F extends Fields>(fields: F) =>
  having(fields, 'column').flatMap(([name, how]) => (how === 'given' ? [name] : [])) as NamesOf<
    F,
    { column: 'given' }
  >[];

/** The columns of rows for replies. */
export const columnNames = <F extends Fields>(fields: F) =>
  having(fields, 'column').map(([name]) => name) as NamesOf<F, { column: string }>[];

/**
 * The same as a select list.
 * @param table the alias of the noun's table
 */
export const columnsOf = (fields: Fields, table: string): RawBuilder<unknown> =>
  sql.join(columnNames(fields).map((name) => sql.ref(`${table}.${name}`)));

/** The named values that are given. */
export const pick = <Name extends string, Row extends Partial<Record<Name, unknown>>>(
  row: Row,
  names: readonly Name[],
) =>
  Object.fromEntries(names.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]]))) as {
    [Key in Name]?: Exclude<Row[Key], undefined>;
  };

/** The values of a new row: null is the same as no value, so that the defaults of the table apply. */
export const valuesOf = <F extends Fields, Row extends { [Name in NamesOf<F, { column: 'given' }>]?: unknown }>(
  fields: F,
  row: Row,
) =>
  Object.fromEntries(
    givenColumns(fields).flatMap((name) =>
      row[name] === undefined || row[name] === null ? [] : [[name, row[name as keyof typeof row]]],
    ),
  ) as { [Name in NamesOf<F, { column: 'given' }>]?: NonNullable<Row[Name]> };

/**
 * A function from a row to the members of its reply that are columns. It takes no others: replies of several forms, such as targets of to-do items, are written with all members
 * that they have.
 */
export function shownOf<F extends Fields>(fields: F) {
  const names = having(fields, 'reply').flatMap(([name]) => (fields[name]!.column === undefined ? [] : [name]));
  return (row: object) => {
    const values = row as Readonly<Record<string, unknown>>;
    return Object.fromEntries(names.map((name) => [name, values[name]])) as {
      [Name in NamesOf<F, { column: string; reply: TSchema }>]: ReplyValue<F[Name]>;
    };
  };
}

/** A change as webhooks list it. */
export interface Changed {
  previous: unknown;
  current: unknown;
}

/** The changes that webhooks list, by the name of the field. */
export const hookChanges = (
  fields: Fields,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, Changed> =>
  Object.fromEntries(
    having(fields, 'hook')
      .filter(([name]) => before[name] !== after[name])
      .map(([name]) => [name, { previous: before[name], current: after[name] }]),
  );

/** The schemas of the fields whose changes webhooks list: those of replies, or else of parameters. Webhooks get them on any plan. */
export const hookMembers = (fields: Fields): TProperties =>
  Object.fromEntries(
    having(fields, 'hook').map(([name]) => {
      const { reply, input } = fields[name]!;
      return [name, { ...(reply ?? input ?? Type.Unknown()), [marks]: {} }];
    }),
  );

interface Edited {
  /** Whether it is a new item, or an existing one that is edited. */
  is_new: boolean;
  plan: Plan | undefined;
  /** The values by field: those of the item, or what a new one starts with. */
  values: Readonly<Record<string, unknown>>;
  /** The options of selects that offer what exists, by field. A select without any is left out. */
  options?: Readonly<Record<string, readonly Option[]>>;
}

/** The values of controls without one. */
const usual = { checkbox: false, select: '' } as const;

/** The controls of forms for an item, in the order of the fields. */
export const controlsOf = (fields: Fields, { is_new, plan, values, options = {} }: Edited): readonly FormField[] =>
  having(fields, 'control').flatMap(([name, { only_edits, ...control }]) => {
    const { input, create, update } = fields[name]!;
    const parameter: (TSchema & Marked) | undefined = input ?? (is_new ? create : update);
    if (parameter === undefined || (is_new && only_edits)) return [];
    if (!reaches(plan ?? 'free', parameter[marks]?.plan)) return [];
    const offered = options[name] ?? control.options;
    if (control.kind === 'select' && (offered === undefined || offered.length === 0)) return [];
    const value = values[name] ?? usual[control.kind as keyof typeof usual];
    return [{ ...control, ...(offered && { options: offered }), name, value: value as FormField['value'] }];
  });
