/**
 * The items referred to by imported system notes: parsed from their texts, because users who may not see an item must
 * not see the note either.
 */
import { type RawBuilder, sql } from 'kysely';
import { type IssuableKind, issuableKinds } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { maximumIid } from '../../../http/index.ts';
import { type Reference, referencesIn } from '../../../markdown/index.ts';
import { pathMeant, type Surroundings } from '../markdown/reference_queries.ts';
import { refersColumns } from './queries.ts';

interface ArrivedNote {
  id: number;
  body: string;
}

const maximumItems = 200;

const namesNothing = sql.join(
  refersColumns.map((column) => sql`${sql.ref(`notes.${column}`)} is null`),
  sql` and `,
);

/**
 * The system notes on items. Titles and tasks, which are bold, and commit messages, which are on separate lines, are
 * written by users and not parsed.
 */
async function notesOnItems(tx: Database, { column }: IssuableKind, ids: readonly number[]): Promise<ArrivedNote[]> {
  const { rows } = await sql<ArrivedNote>`
    select id, body from notes
     where ${sql.ref(column)} = any(${ids}::bigint[]) and system and imported_from <> 'none' and ${namesNothing}
       and position('**' in body) = 0 and position(chr(10) in body) = 0
     order by id`.execute(tx);
  return rows;
}

interface Meant {
  id: number;
  path: string;
  value: string;
}

/** Stores references to items in the column of their kind. */
const nameItems = (tx: Database, { table, places, place_column, column }: IssuableKind, meant: readonly Meant[]) =>
  setNamed(
    tx,
    sql`
    select asked.id, ${sql.ref(`${table}.id`)} as thing_id
      from json_to_recordset(${JSON.stringify(meant)}::json) asked(id bigint, path citext, value integer)
           join ${sql.table(places)} place on place.full_path = asked.path
           join ${sql.table(table)} on ${sql.ref(`${table}.${place_column}`)} = place.id and ${sql.ref(`${table}.iid`)} = asked.value`,
    sql`${sql.ref(`refers_to_${column}`)} = thing_id`,
  );

/** A commit is referenced by its project and its id, which is stored in full if the commit has comments. */
const nameCommits = (tx: Database, meant: readonly Meant[]) =>
  setNamed(
    tx,
    sql`
    select asked.id, projects.id as thing_id, coalesce(
             (select commit_id from notes where project_id = projects.id and starts_with(commit_id, asked.value) limit 1), asked.value) as sha
      from json_to_recordset(${JSON.stringify(meant)}::json) asked(id bigint, path citext, value text)
           join projects on projects.full_path = asked.path`,
    sql`refers_to_project_id = thing_id, refers_to_commit_id = sha`,
  );

const setNamed = (tx: Database, named: RawBuilder<unknown>, set: RawBuilder<unknown>) =>
  sql`update notes set ${set} from (${named}) named where notes.id = named.id`.execute(tx);

/**
 * Stores the references in the texts of system notes on items of a kind.
 * @param tx the transaction of this portion
 * @param place_id the project or group of the items
 * @param after the number of the last item of the previous portion
 * @returns the number of the last item of this portion, undefined at the end
 */
export async function findReferred(
  tx: Database,
  kind: IssuableKind,
  place_id: number,
  after: number,
): Promise<number | undefined> {
  const { rows: items } = await sql<{ id: number; iid: number }>`
    select id, iid from ${sql.table(kind.table)}
     where ${sql.ref(kind.place_column)} = ${place_id} and iid > ${after} order by iid limit ${maximumItems}`.execute(
    tx,
  );
  if (items.length === 0) return undefined;
  const notes = await notesOnItems(
    tx,
    kind,
    items.map(({ id }) => id),
  );
  if (notes.length > 0) await nameAll(tx, notes, await surroundingsOf(tx, kind, place_id));
  return items.at(-1)!.iid;
}

async function surroundingsOf(tx: Database, { places }: IssuableKind, place_id: number): Promise<Surroundings> {
  const { rows } = await sql<{ full_path: string }>`
    select full_path::text as full_path from ${sql.table(places)} where id = ${place_id}`.execute(tx);
  const { full_path } = rows[0]!;
  if (places === 'namespaces') return { project_path: undefined, group_path: full_path };
  return { project_path: full_path, group_path: full_path.slice(0, full_path.lastIndexOf('/')) };
}

type FirstReference = Meant & Pick<Reference, 'kind'>;

/** The first item that a text refers to; no text has another item before it. */
async function firstIn({ id, body }: ArrivedNote, surroundings: Surroundings): Promise<FirstReference | undefined> {
  for (const reference of await referencesIn(body)) {
    const { kind, path, value } = reference;
    const issuable = issuableKinds.find(({ reference: name }) => name === kind);
    const full_path = issuable ? pathMeant(issuable, reference, surroundings) : (path ?? surroundings.project_path);
    if (full_path === undefined || (issuable ? Number(value) > maximumIid : kind !== 'commit')) continue;
    return { id, kind, path: full_path, value };
  }
  return undefined;
}

async function nameAll(tx: Database, notes: readonly ArrivedNote[], surroundings: Surroundings): Promise<void> {
  const meant: FirstReference[] = [];
  for (const note of notes) meant.push(...[await firstIn(note, surroundings)].filter((found) => found !== undefined));
  const of = (name: Reference['kind']) => meant.filter(({ kind }) => kind === name);
  for (const kind of issuableKinds) await nameItems(tx, kind, of(kind.reference));
  await nameCommits(tx, of('commit'));
  await markMentions(
    tx,
    notes.map(({ id }) => id),
  );
}

/** The columns in which two equal mentions agree. */
const mention = [...issuableKinds.map(({ column }) => column), ...refersColumns];

/** Marks `mentioned in …` notes, so that they are not repeated when a text is edited. */
async function markMentions(tx: Database, ids: readonly number[]): Promise<void> {
  const columns = sql.join(mention.map((column) => sql.ref(column)));
  const isSame = sql.join(
    mention.map((column) => sql`${sql.ref(`other.${column}`)} is not distinct from ${sql.ref(`notes.${column}`)}`),
    sql` and `,
  );
  await sql`
    update notes set is_mention = true
     where id in (select min(id) from notes where id = any(${ids}::bigint[]) and body like 'mentioned in %' and not (${namesNothing}) group by ${columns})
       and not exists (select from notes other where other.is_mention and ${isSame})`.execute(tx);
}
