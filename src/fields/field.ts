/**
 * A field of a noun as one value: its column, its parameters, how it is shown, how it leaves and arrives, whether webhooks list its changes, and its control in forms. A noun
 * has one record of them, `fields.ts`, and everything else is read off it (docs/adding_a_field.md).
 */
import type { Selectable } from 'kysely';
import type { Static, TOptional, TSchema } from 'typebox';
import type { DB } from '../db/index.ts';
import type { Field as FormField } from '../pages/index.ts';
import type { Member } from '../relations/index.ts';

/** A control in forms. Its value is that of the reply. It is left out below the plan of the parameter. */
export interface Control extends Omit<FormField, 'name' | 'value'> {
  /** Whether the form for a new item has none. */
  only_edits?: true;
}

export interface Field {
  /** The column of the same name: `given` is written as the parameters say, `kept` by the server alone, such as ids, counters and times. */
  column?: 'given' | 'kept';
  /** The parameter of creation and of changes; a plan that it needs is marked with `since`. */
  input?: TSchema;
  /** The parameter of creation only, or of changes only. */
  create?: TSchema;
  update?: TSchema;
  /** Whether creation requires it. */
  is_required?: true;
  /** Its member of replies. Members that are no columns are computed in `present.ts`. */
  reply?: TSchema;
  /** Its member of exported records. Members with other names or without a field are in `relation.ts`. */
  relation?: Member;
  /** Whether webhooks list its changes. */
  hook?: true;
  control?: Control;
}

export type Fields = Readonly<Record<string, Field>>;

type SchemaFacet = 'input' | 'create' | 'update' | 'reply';

/** The schemas of a facet, by the name of the field. */
export type SchemasOf<F, Facet extends SchemaFacet> = {
  [Name in keyof F as F[Name] extends Record<Facet, TSchema> ? Name : never]: F[Name] extends Record<
    Facet,
    infer S extends TSchema
  >
    ? S
    : never;
};

/** The parameters of creation: those that it does not require are optional. */
export type CreationOf<F, Inputs = SchemasOf<F, 'input'> & SchemasOf<F, 'create'>> = {
  [Name in keyof Inputs]: Name extends keyof F
    ? F[Name] extends { is_required: true }
      ? Inputs[Name]
      : TOptional<Inputs[Name] & TSchema>
    : never;
};

/** The value of a member of replies. */
export type ReplyValue<Entry> = Entry extends { reply: infer S extends TSchema } ? Static<S> : never;

/** The value of a column: as replies declare it, otherwise as the table does. */
type ValueOf<F, Name extends keyof F, Table extends keyof DB> = F[Name] extends { reply: infer S extends TSchema }
  ? Static<S>
  : Name extends keyof Selectable<DB[Table]>
    ? Selectable<DB[Table]>[Name]
    : never;

/** The columns of a row. */
export type RowOf<F, Table extends keyof DB> = {
  [Name in keyof F as F[Name] extends { column: string } ? Name : never]: ValueOf<F, Name, Table>;
};

/** The columns that are written as given. */
export type GivenOf<F, Table extends keyof DB> = {
  [Name in keyof F as F[Name] extends { column: 'given' } ? Name : never]: ValueOf<F, Name, Table>;
};

/** Any of the columns that are written as given; omitted ones keep their values, or get their defaults. */
export type ChangesOf<F, Table extends keyof DB> = {
  [Name in keyof GivenOf<F, Table>]?: GivenOf<F, Table>[Name] | undefined;
};
