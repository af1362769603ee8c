/**
 * The files that areas keep as blobs, each table described once: Geo copies, statistics, backups and checks read these descriptions and name no table
 * (docs/architecture.md#files-outside-of-repositories).
 */
import type { DB } from '../db/index.ts';

/** The blobs that the rows of a table refer to. Names of columns, and SQL, are those of `from`. */
export interface StoredFiles {
  table: keyof DB;
  /** The column that has their keys; null in rows without a file. */
  key: string;
  /** What precedes the value of the column in a key, where the column has only the rest of it. */
  prefix?: string;
  /** The first part of the keys. Several tables may share it. */
  kind: string;
  /** The table, joined with what says whose the files are; left out, the table alone. */
  from?: string;
  /** The project whose members may read a file. A secondary copies the file if it has selected the project; files of neither project nor group are copied by all. */
  project_id?: string;
  /** The group whose members may read it, for files that can belong to either. */
  group_id?: string;
  /** The column of sizes in bytes. */
  size_bytes?: string;
  /** The column of SHA-256 digests in hexadecimal: the files are read and compared by Geo and by `check`. */
  sha256?: string;
  /** Whether they count as uploads in the statistics of projects. */
  are_uploads?: true;
  /** What `check` says when one is lost; left out for files with a check of their own. */
  check?: {
    /** With its article. */
    noun: string;
    /** The column that names a single file. */
    name?: string;
    /** A sentence. */
    remedy: string;
  };
}

/** The FROM clause of the rows of files. */
export const fromOf = ({ from, table }: StoredFiles): string => from ?? table;

/** The key of a row's blob, as SQL. */
export const keyOf = ({ key, prefix }: StoredFiles): string => (prefix === undefined ? key : `'${prefix}' || ${key}`);
