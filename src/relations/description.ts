/**
 * How a kind of record leaves and arrives (docs/decisions/0092-a-noun-says-how-it-leaves-and-arrives.md). A noun describes it in its `relation.ts`; what writes
 * and reads lines works on these descriptions and names no table.
 */
import type { RawBuilder, SqlBool } from 'kysely';
import type { Database, DB, NumberUsage } from '../db/index.ts';
import type { Arrival } from './arriving.ts';
import type { Departure, RelationOwner } from './exported.ts';
import type { Value } from './values.ts';

/** A column of the row. */
export interface ColumnMember {
  is: 'column';
  column: string;
  value: Value;
  /** What a record without the member gets; null if left out. */
  otherwise?: unknown;
  /** Whether a record without it is refused. */
  is_required?: true;
  /** Whether a record with a value that is not valid arrives without it, and the value is a failure of its own. */
  is_lenient?: true;
  /** The value in a record that others give in another place, where the member is missing. */
  given?(record: Record<string, unknown>): unknown;
}

/** A column with a user: the member is their id at the source. */
export interface PersonMember {
  is: 'person';
  column: string;
  /** Whether the column holds a user in every row: the ghost stands for one who is missing. */
  is_required?: true;
  /** Whether it grants rights. Only a user with an account here is accepted then; a record that needs one is refused otherwise. */
  is_account?: true;
}

/** Something that is written and not read. */
export interface ShownMember {
  is: 'shown';
  expression(departure: Departure): RawBuilder<unknown>;
}

/** A record that others refer to, too: the member is an object that identifies it. */
export interface ReferenceMember {
  is: 'reference';
  column: string;
  kind: RecordKind;
  /** A row without it is left out with its own failure. */
  is_required?: true;
  /**
   * The ids of the corresponding objects here, in the same order; null if there is none.
   * @param wanted distinct objects as the source gives them
   */
  find(tx: Database, arrival: Arrival, wanted: readonly Record<string, unknown>[]): Promise<(number | null)[]>;
}

/** The reference of a row, as the source gives it. */
export interface Waiting {
  /** The id of the row. */
  id: number;
  wanted: unknown;
}

/** A record that this one names and that may arrive after it: it is found when everything is here. */
export interface LateMember {
  is: 'late';
  column: string;
  expression(departure: Departure): RawBuilder<unknown>;
  /** The ids of the objects that these rows name, by the id of the row; without objects that do not exist here or may not be named. */
  find(tx: Database, arrival: Arrival, waiting: readonly Waiting[]): Promise<ReadonlyMap<number, number>>;
  /** Whether each row is found by itself, because what may be named depends on the others. */
  is_alone?: true;
}

/** Records that belong to this one: an array, or one object. */
export interface PartsMember {
  is: 'parts';
  kind: RecordKind;
  /** The column of the parts that names this record. */
  key: string;
  is_single?: true;
  /** The parts in a record that others give in another place. */
  given?(record: Record<string, unknown>): readonly unknown[];
  /** Whether the parts follow from others when they leave. */
  only_arrives?: true;
}

/** An object of columns of the same row. */
export interface GroupMember {
  is: 'group';
  members: Members;
}

export type Member =
  | ColumnMember
  | PersonMember
  | ShownMember
  | ReferenceMember
  | LateMember
  | PartsMember
  | GroupMember;
export type Members = Readonly<Record<string, Member>>;

/** A row to be written, by column. */
export type Row = Record<string, unknown>;

/** A record as it arrives: its row, and the rows of its parts by member. */
export interface ArrivingRow {
  row: Row;
  value: Record<string, unknown>;
  parts: Readonly<Record<string, readonly ArrivingRow[]>>;
}

/** Columns that follow from others, with their types. */
export interface Derivation {
  columns: Readonly<Record<string, Value['type']>>;
  /**
   * Completes the rows of one portion, in the order of the file.
   * @returns the reasons against rows that are refused, if there are any
   */
  derive(rows: readonly ArrivingRow[], arrival: Arrival, tx: Database): Derived | Promise<Derived>;
}

export type Derived = ReadonlyMap<ArrivingRow, string> | undefined;

export interface RecordKind {
  table: keyof DB & string;
  members: Members;
  /** Columns that stay behind, each with the reason. */
  stays: Readonly<Record<string, string>>;
  /** The column that names the project or group, for kinds that are not only parts. */
  owner?: Partial<Record<RelationOwner['kind'], string>>;
  /** A predicate on rows of the table, where no column names the project or group. */
  isOwned?(departure: Departure): RawBuilder<SqlBool>;
  /** Which rows of the table are of this kind, if not all. */
  only?: RawBuilder<SqlBool>;
  /** Values of columns that all rows of this kind have when they arrive. */
  always?: Readonly<Record<string, unknown>>;
  /** A predicate on rows of the table: the reader may see them. Left out if everybody who may export may see them. */
  isVisible?(departure: Departure): RawBuilder<SqlBool>;
  /** The order of the lines, before the id. */
  order?: RawBuilder<unknown>;
  /** The columns that make rows of one parent distinct; further rows that are equal in them are refused. */
  distinct?: readonly string[];
  /** The columns of the constraint by which rows are known to be here already; any constraint if left out. */
  known_by?: readonly string[];
  /** The reason to refuse a record whose members are valid individually. */
  refuse?(row: Row): string | undefined;
  derives?: Derivation;
  /** What its records are numbered as in their project or group, in the column `iid`. */
  numbered?: NumberUsage;
  /** Follow-up work in the same transaction, for the inserted rows and after their parts. */
  follows?(tx: Database, arrival: Arrival, rows: readonly ArrivingRow[]): Promise<void>;
  /** Whether the table has no column `id`. */
  is_link?: true;
  /** The unique column of the table, for a link that is not part of another record. */
  identity?: string;
  /** The member that names a record in failures. */
  title?: string;
}

/** A relation of projects, groups or both. */
export interface Relation {
  name: string;
  kind: RecordKind;
  is_batched?: true;
  plan?: 'premium' | 'ultimate';
  /** Adds values that are not in the database to exported records. */
  complete?(tx: Database, departure: Departure, records: readonly Record<string, unknown>[]): Promise<void>;
  /** For lines that hold records of another kind: they arrive, and the line with them. */
  holds?: { name: string; kind: RecordKind; records(line: Record<string, unknown>): readonly unknown[] };
}
