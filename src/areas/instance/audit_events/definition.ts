/** What a noun says about its audit events, and what an event says (docs/reference/audit_events.md). */
import type { DB } from '../../../db/index.ts';
import type { SpokenName } from './rules.ts';

/** An expression in SQL on the row that changes, which is called `it`; what decides on a change may also use `old` and `new`. */
type Expression = string;

/** The name of an event, or an expression that decides on it and the names that it may have; no event is written where it is null. */
export type EventName = string | { of: Expression; names: readonly string[] };

/** What is said of a member of a noun that changes. */
export interface AuditedMember {
  event: EventName;
  /** The name of the member in `change`; by default that of the column. */
  as?: string;
  /**
   * What is said of its values: an expression of `$`, by default the values themselves; `nothing` of secrets and of texts that people write; `add` or `remove` if
   * the change stands for the addition or removal of the noun.
   */
  says?: Expression | 'nothing' | 'add' | 'remove';
}

/**
 * The audit events of a noun. They are written by triggers of its table that `npm run generate` makes of this description, so whatever changes the table writes
 * them, in its transaction. What the database deletes along with something else leaves none.
 */
export interface AuditedNoun<Table extends keyof DB = keyof DB> {
  table: Table;
  /** Where a table has several nouns, what tells this one from the others. */
  part?: string;
  /** The `target_type`. */
  type: string;
  /** The `target_details`, which name it to people, and the id of the target if it is not the row's. */
  target: { details: Expression; id?: Expression };
  /** The ids of what it belongs to: the first one that is not null is the entity; the instance if none is. */
  entity: { Project?: Expression; Group?: Expression; User?: Expression };
  /** The path of the entity, if the entity may be gone. */
  path?: Expression;
  /** Which rows have events; all by default. */
  only_if?: Expression;
  added?: EventName;
  removed?: EventName;
  /** The members whose changes are events, one for each. */
  members?: AuditedMembers<Table>;
  /** All members that are neither there nor left out here, so that a new column is not forgotten. It suits tables that change seldom. */
  rest?: {
    /** The name, in which `*` stands for that of the member. */
    event: string;
    but: readonly (keyof DB[Table] & string)[];
    /** Those whose values are not said: secrets, and texts that people write. */
    silent: readonly (keyof DB[Table] & string)[];
  };
}

type AuditedMembers<Table extends keyof DB> = { readonly [Column in keyof DB[Table] & string]?: AuditedMember };

/** Declares the audit events of a noun. `src/areas/audited.ts` lists these declarations. */
export const auditedNoun = <Table extends keyof DB>(noun: AuditedNoun<Table>): AuditedNoun =>
  noun as unknown as AuditedNoun;

/** The same event for changes of many members. */
export const eachMember = <Column extends string>(
  columns: readonly Column[],
  memberOf: (column: Column) => AuditedMember,
): { [C in Column]: AuditedMember } =>
  Object.fromEntries(columns.map((column) => [column, memberOf(column)])) as { [C in Column]: AuditedMember };

/** The user, group or project that an event is about, or the whole server. */
export type AuditEntity = { type: 'User' | 'Group' | 'Project'; id: number } | 'instance';

/** What was done. It names no secret, and no text that people write. */
export type AuditDetails =
  | { add: string }
  | { remove: string }
  | { change: string; from?: string | null; to?: string | null }
  | { custom_message: string };

/** An event that is not the change of a row, such as a sign-in. */
export interface AuditEvent {
  event_name: SpokenName;
  entity: AuditEntity;
  /** What it was done to; by default the entity. */
  target?: { id?: number; type: string; details: string };
  details: AuditDetails;
}
