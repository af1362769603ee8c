/** The suggestions of notes on the diff of a merge request (docs/reference/merge_requests.md#suggestions). */
import { sql } from 'kysely';
import { type Granted, type Noteable, projectOf } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { blobSize, entryAt, type Repository, readBlob, repositoryOf } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { type FencedBlock, fencedBlocks, mapInSlices } from '../../../markdown/index.ts';
import type { Position } from './position_rules.ts';
import { fitted, isSuggestion, linesAt, reachOf, spanOf, suggestedLine } from './suggestion_rules.ts';

/** The maximum number of suggestions in a note. */
const maximumSuggestions = 100;

/** Suggestions are ignored if a note's suggested lines exceed this in total. */
const maximumReplaced_bytes = 1024 * 1024;

/** Suggestions are not possible in larger files: the file is read for each suggestion. */
const maximumFile_bytes = 1024 * 1024;

/** A text file of a commit, undefined if there is none, or if it is too large for suggestions. */
export async function suggestibleFile(
  repository: Repository,
  commit: string,
  path: string,
): Promise<Buffer | undefined> {
  const entry = await entryAt(repository, commit, path);
  if (entry?.type !== 'blob' || (await blobSize(repository, entry.id)) > maximumFile_bytes) return undefined;
  return readBlob(repository, entry.id);
}

interface NewSuggestion {
  lines_above: number;
  lines_below: number;
  from_content: string;
  to_content: string;
}

/** @param line the number of the note's line */
async function suggestionsIn(content: Buffer, line: number, blocks: readonly FencedBlock[]): Promise<NewSuggestion[]> {
  let replaced_bytes = 0;
  const made = await mapInSlices(blocks, ({ info, text }) => {
    const reach = reachOf(info);
    const from = Math.max(line - reach.lines_above, 1);
    const span = spanOf(content, from, line + reach.lines_below);
    replaced_bytes += span ? span.end - span.start : 0;
    if (!span || from + span.count <= line || replaced_bytes > maximumReplaced_bytes) return undefined;
    const from_content = linesAt(content, span);
    if (from_content === undefined) return undefined;
    const lines_below = from + span.count - 1 - line;
    return { lines_above: line - from, lines_below, from_content, to_content: fitted(text, from_content) };
  });
  return made.filter((suggestion) => suggestion !== undefined);
}

/** A note whose suggestions are being written. */
interface Suggesting {
  id: number;
  position: Position | null;
  diff_commit_id: string | null;
}

/**
 * Stores the suggestions of a note, replacing its earlier ones. Notes that are not on a line of the changed file have
 * none.
 * @param tx the transaction of the note
 */
export async function writeSuggestions(
  tx: Database,
  { storages }: Pick<Services, 'storages'>,
  on: Granted<Noteable>,
  { id, position, diff_commit_id }: Suggesting,
  body: string,
): Promise<void> {
  const line = suggestedLine(position);
  if (on.kind.type !== 'MergeRequest' || line === undefined || diff_commit_id !== null) return;
  await tx.deleteFrom('suggestions').where('note_id', '=', id).execute();
  const blocks = await fencedBlocks(body, isSuggestion, maximumSuggestions);
  if (blocks.length === 0) return;
  const repository = repositoryOf({ storages }, projectOf(on.in));
  const content = await suggestibleFile(repository, position!.head_sha, position!.new_path!);
  const made = content ? await suggestionsIn(content, line, blocks) : [];
  if (made.length === 0) return;
  const column = <K extends keyof NewSuggestion>(name: K) => made.map((suggestion) => suggestion[name]);
  await sql`
    insert into suggestions (note_id, lines_above, lines_below, from_content, to_content)
    select ${id}, made.* from unnest(${column('lines_above')}::int[], ${column('lines_below')}::int[],
      ${ofAnyLength(column('from_content'), 'text[]')}, ${ofAnyLength(column('to_content'), 'text[]')}) made`.execute(
    tx,
  );
}
