/** Finding suggestions whose lines have changed (docs/reference/merge_requests.md#suggestions). */
import { sql } from 'kysely';
import type { Issuable } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import type { Repository } from '../../../git/index.ts';
import { mapInSlices } from '../../../markdown/index.ts';
import type { Position } from './position_rules.ts';
import { suggestibleFile } from './suggestion_actions.ts';
import { digestOf, spanOf, suggestedLine } from './suggestion_rules.ts';

/** The number of suggestions compared together. */
const at_once = 1_000;

interface Compared {
  id: number;
  discussion_id: string;
  lines_above: number;
  lines_below: number;
  /** SHA-256 of the lines in hexadecimal digits: the lines themselves may be large. */
  digest: string;
}

/** A thread with its position in a later version; null if it has none there. */
export interface Placed {
  discussion_id: string;
  position: Position | null;
}

async function compared(
  db: Database,
  on: Issuable,
  discussion_ids: readonly string[],
  after: number,
): Promise<Compared[]> {
  const { rows } = await sql<Compared>`
    select suggestions.id, discussion_id, lines_above, lines_below, encode(sha256(convert_to(from_content, 'UTF8')), 'hex') as digest
      from suggestions join notes on notes.id = suggestions.note_id
     where notes.merge_request_id = ${on.id} and discussion_id = any(${ofAnyLength(discussion_ids, 'text[]')})
       and not suggestions.outdated and suggestions.commit_id is null and suggestions.id > ${after}
     order by suggestions.id limit ${at_once}`.execute(db);
  return rows;
}

/**
 * The suggestions of threads whose lines differ in a later version. Suggestions of threads without a position there
 * become outdated together with the threads.
 * @param on the merge request
 * @param threads at most some hundreds
 * @param signal stops between files
 */
export async function changedSuggestions(
  db: Database,
  repository: Repository,
  on: Issuable,
  threads: readonly Placed[],
  signal: AbortSignal,
): Promise<number[]> {
  const placed = new Map(
    threads.flatMap(({ discussion_id, position }) => (position ? [[discussion_id, position]] : [])),
  );
  const changed: number[] = [];
  for (let after = 0; placed.size > 0; ) {
    const batch = await compared(db, on, [...placed.keys()], after);
    for (const group of Map.groupBy(batch, ({ discussion_id }) => placed.get(discussion_id)!.new_path!).values()) {
      signal.throwIfAborted();
      const { head_sha, new_path } = placed.get(group[0]!.discussion_id)!;
      const content = await suggestibleFile(repository, head_sha, new_path!);
      const stale = await mapInSlices(group, ({ id, discussion_id, lines_above, lines_below, digest }) => {
        const line = suggestedLine(placed.get(discussion_id)!) ?? 0;
        const span = content && spanOf(content, line - lines_above, line + lines_below);
        return span && digestOf(content!, span) === digest ? [] : [id];
      });
      changed.push(...stale.flat());
    }
    if (batch.length < at_once) break;
    after = batch.at(-1)!.id;
  }
  return changed;
}
