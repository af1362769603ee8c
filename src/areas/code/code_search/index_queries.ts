/** Finding files in the index of code. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { customPlan, type Database } from '../../../db/index.ts';
import { containing } from '../../../http/index.ts';
import { type CodeQuery, folded, isWanted } from './query_rules.ts';

/** An indexed file of a project, with its content if the content matched. */
export interface IndexedFile {
  project_id: number;
  path: string;
  /** The blob id. */
  id: string;
  /** In lower case, unless written by an earlier version. */
  content: string | null;
}

/** A row, and whether the contents before it reach the limit of a search. */
interface Row extends IndexedFile {
  is_beyond: boolean;
}

/** All contents that a search reads are in memory together. */
const maximumContent_bytes = 64 * 1024 * 1024;

/** The given projects whose index matches their default branch, and which of them have texts that are too large for the index. */
export async function indexedAmong(
  db: Database,
  project_ids: readonly number[],
): Promise<{ current: ReadonlySet<number>; partial: ReadonlySet<number> }> {
  const { rows } = await sql<{ project_id: number; is_partial: boolean }>`
    select project_id, project_id in (select code_files.project_id from code_blobs join code_files on code_files.blob_id = code_blobs.id where is_left_out) as is_partial
      from code_indexes where not is_stale and project_id = any(${project_ids}::bigint[])`.execute(db);
  const partial = rows.filter(({ is_partial }) => is_partial);
  const idsOf = (some: typeof rows) => new Set(some.map(({ project_id }) => project_id));
  return { current: idsOf(rows), partial: idsOf(partial) };
}

/** A text that occurs in more files than this is searched in list order, without the trigram index. */
const fewTexts = 1_000;
/** The number of files examined for a query with filters. */
const maximumFiles = 20_000;
/** The number of files examined in list order, which fills a page for a common text. */
const firstFiles = 1_000;
/** Shorter texts contain no trigram. */
const shortest = 3;

/**
 * The first files that contain a text, or have it in their path, by project and path.
 * @param project_ids whose index is current
 * @param most the number of files needed
 * @returns the files, whether they are all matches, and whether the memory limit allowed as many as were needed
 */
export async function findIndexed(
  db: Database,
  query: CodeQuery,
  project_ids: readonly number[],
  most: number,
): Promise<{ files: IndexedFile[]; is_whole: boolean; is_complete: boolean }> {
  const { text, filters } = query;
  const limit = filters.length > 0 ? maximumFiles : most;
  const rows = await rowsOf(db, text, project_ids, limit + 1);
  const read = rows.slice(0, limit).filter(({ is_beyond }) => !is_beyond);
  const files = read.filter((file) => isWanted(query, file));
  const is_whole = rows.length <= limit && read.length === rows.length && files.length <= most;
  return { files: files.slice(0, most), is_whole, is_complete: is_whole || files.length >= most };
}

async function rowsOf(db: Database, text: string, project_ids: readonly number[], limit: number) {
  const isInside = sql<SqlBool>`code_files.project_id = any(${project_ids}::bigint[])`;
  const hasIt = contains(text);
  const select = (where: RawBuilder<SqlBool>, files = sql`code_files`) => sql<Row>`${customPlan}
    select project_id, path, id, so_far > ${maximumContent_bytes} as is_beyond,
           case when has_it and so_far <= ${maximumContent_bytes} then content end as content
      from (select few.*, sum(octet_length(content)) over (order by project_id, path) as so_far
              from (select code_files.project_id, code_files.path, code_blobs.object_id as id, code_blobs.content, ${hasIt} as has_it
                      from ${files} join code_blobs on code_blobs.id = code_files.blob_id
                     where ${isInside} and ${where} order by code_files.project_id, code_files.path limit ${limit}) few) counted
     order by project_id, path`;
  if (text === '') return (await select(sql`true`).execute(db)).rows;
  const firstOfAll = sql`(select * from code_files where ${isInside} order by project_id, path limit ${sql.lit(firstFiles)}) code_files`;
  const hasPath = sql<SqlBool>`code_files.path ilike ${containing(text)}`;
  const isFound = sql<SqlBool>`(${hasIt} or ${hasPath})`;
  const { rows: first } = await select(isFound, firstOfAll).execute(db);
  if (first.length === limit) return first;
  const few = text.length < shortest ? undefined : await fewWith(db, text);
  if (!few) return (await select(isFound).execute(db)).rows;
  return (await select(sql`(code_files.blob_id = any(${few}::bigint[]) or ${hasPath})`).execute(db)).rows;
}

/** A predicate on `code_blobs`: a line of the content has a text, in any case. */
const contains = (text: string): RawBuilder<SqlBool> => {
  if (text.includes('\n')) return sql`false`;
  return sql`code_blobs.content like ${containing(folded(text))}`;
};

/** The ids of contents that contain a text, unless there are many. */
async function fewWith(db: Database, text: string): Promise<number[] | undefined> {
  const { rows } = await sql<{ id: number }>`${customPlan}
    select id from code_blobs where ${contains(text)} limit ${sql.lit(fewTexts + 1)}`.execute(db);
  return rows.length > fewTexts ? undefined : rows.map(({ id }) => id);
}

/** The state of the index: projects with code, indexed up to date, waiting and failed, and its size in bytes. */
export async function indexState(db: Database) {
  const { rows } = await sql<{ projects: number; indexed: number; failed: number; bytes: number }>`
    select count(*) as projects, count(*) filter (where not is_stale) as indexed, count(failed_at) as failed,
           pg_total_relation_size('code_blobs') + pg_total_relation_size('code_files') + pg_total_relation_size('code_indexes') as bytes
      from projects left join code_indexes on code_indexes.project_id = projects.id where not empty_repo`.execute(db);
  const { projects, indexed, failed, bytes } = rows[0]!;
  return { projects, indexed, failed, behind: projects - indexed - failed, bytes };
}
