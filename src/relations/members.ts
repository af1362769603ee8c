/** Members of records, for descriptions. */
import type { RawBuilder } from 'kysely';
import type {
  ColumnMember,
  GroupMember,
  LateMember,
  Members,
  PartsMember,
  PersonMember,
  RecordKind,
  ReferenceMember,
  ShownMember,
} from './description.ts';
import type { Departure } from './exported.ts';
import type { Value } from './values.ts';

/** A column that may be missing, and is null then. */
export const column = (name: string, value: Value): ColumnMember => ({ is: 'column', column: name, value });

/** A column that gets a value of its own where the member is missing. */
export const columnOr = (name: string, value: Value, otherwise: unknown): ColumnMember => ({
  ...column(name, value),
  otherwise,
});

/** A column without which a record is refused. */
export const required = (name: string, value: Value): ColumnMember => ({ ...column(name, value), is_required: true });

/**
 * A column whose value a record does not depend on: one that is not valid here is a failure of its own, and the record arrives without it.
 * @param given the value in records that give it in another place
 */
export const lenient = (
  name: string,
  value: Value,
  otherwise: unknown,
  given?: (record: Record<string, unknown>) => unknown,
): ColumnMember => ({ ...columnOr(name, value, otherwise), is_lenient: true, ...(given && { given }) });

/** A column with a user, who may be missing. */
export const person = (name: string): PersonMember => ({ is: 'person', column: name });

/** A column with a user: the ghost stands for one who is missing. */
export const somebody = (name: string): PersonMember => ({ is: 'person', column: name, is_required: true });

/** A column with a user who gets rights by it, and who must have an account here. */
export const account = (name: string): PersonMember => ({ is: 'person', column: name, is_account: true });

/** The same, and a record without it is refused. */
export const requiredAccount = (name: string): PersonMember => ({ ...account(name), is_required: true });

/** A member that is exported and not imported. */
export const shown = (
  expression: RawBuilder<unknown> | ((departure: Departure) => RawBuilder<unknown>),
): ShownMember => ({
  is: 'shown',
  expression: typeof expression === 'function' ? expression : () => expression,
});

/** Another record that this one names. */
export const reference = (name: string, kind: RecordKind, find: ReferenceMember['find']): ReferenceMember => ({
  is: 'reference',
  column: name,
  kind,
  find,
});

/** Another record that this one names and that may arrive after it. */
export const late = (name: string, expression: LateMember['expression'], find: LateMember['find']): LateMember => ({
  is: 'late',
  column: name,
  expression,
  find,
});

/** Records that belong to this one, and whose column `key` names it. */
export const parts = (kind: RecordKind, key: string): PartsMember => ({ is: 'parts', kind, key });

/** The only record of a kind that belongs to this one. */
export const part = (kind: RecordKind, key: string): PartsMember => ({ ...parts(kind, key), is_single: true });

/** An object of columns of the same row. */
export const group = (members: Members): GroupMember => ({ is: 'group', members });
